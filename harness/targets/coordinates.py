"""Maven coordinates of the releases of Apache Kafka, with what each needs beside its own dependencies on Java 17.

| releases | Scala | logger | beside it |
| --- | --- | --- | --- |
| from 4.0 | 2.13 | log4j 2 | |
| 2.4 to 3.9 | 2.13 | reload4j, a maintained log4j 1 | |
| 1.0 to 2.3 | 2.12 | reload4j | ZooKeeper's client 3.4.10 |
| before 1.0 | 2.11 | reload4j | ZooKeeper's client 3.4.10, `javax.xml.bind`, which Java 11 dropped |

The client 3.4.13 and 3.4.14 of releases before 2.4 reads the host of a server from the text of its address, which
changed in Java 14 (ZOOKEEPER-3779): it never connects. 3.4.10 does.
"""

from __future__ import annotations

from fencepost.harness.errors import InfrastructureError

Coordinates = tuple[str, str, str]
"""Group, artifact and version."""

ARTIFACT = ("org.apache.kafka", "kafka_2.13")
"""Group and artifact whose versions are the releases from 2.4 on. There are no newer ones of the others."""
LOG4J_2 = (
    ("org.apache.logging.log4j", "log4j-core", "2.24.3"),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),
)
LOG4J_1 = (("org.slf4j", "slf4j-reload4j", "1.7.36"),)
ZOOKEEPER_CLIENT = ("org.apache.zookeeper", "zookeeper", "3.4.10")
XML_BINDING = ("javax.xml.bind", "jaxb-api", "2.3.1")


def major_minor(version: str) -> tuple[int, int]:
    """Return (4, 3) for `4.3.1`. InfrastructureError if the text is not a version of Kafka."""
    parts = version.split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts[:2]):
        raise InfrastructureError(f"{version!r} is not a version of Apache Kafka: give one like 4.4.0")
    return int(parts[0]), int(parts[1])


def scala(version: str) -> str:
    """Return the version of Scala whose build of this release is taken."""
    release = major_minor(version)
    if release >= (2, 4):
        return "2.13"
    return "2.12" if release >= (1, 0) else "2.11"


def core_jar(version: str) -> str:
    """Return the name of the jar with the broker."""
    return f"kafka_{scala(version)}-{version}.jar"


def coordinates(version: str) -> tuple[Coordinates, ...]:
    """Return the artifacts of a release. Their versions win over those that other artifacts depend on."""
    release = major_minor(version)
    kafka = ("org.apache.kafka", f"kafka_{scala(version)}", version)
    if release >= (4, 0):
        return kafka, *LOG4J_2
    return kafka, *LOG4J_1, *replacements(version)


def replacements(version: str) -> tuple[Coordinates, ...]:
    """Return what a release needs in place of, or beside, the jars that it was published with."""
    release = major_minor(version)
    if release >= (2, 4):
        return ()
    return (ZOOKEEPER_CLIENT,) if release >= (1, 0) else (ZOOKEEPER_CLIENT, XML_BINDING)
