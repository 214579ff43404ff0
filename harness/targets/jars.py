"""The jars of Apache Kafka by version, with what each release needs beside its own dependencies on Java 17.

They come from the first of these that has them: `$KAFKA_HOME/libs`, if it holds that version; the cache; Maven; the Ivy
in pyspark.

The client 3.4.13 and 3.4.14 of releases before 2.4 reads the host of a server from the text of its address, which
changed in Java 14 (ZOOKEEPER-3779): it never connects. 3.4.10 does. Those before 1.0 use `javax.xml.bind`, which Java
11 dropped. From 4.0 on the logger is log4j 2, earlier reload4j, a maintained log4j 1.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.maven import Coordinates, fetched

ARTIFACT = ("org.apache.kafka", "kafka_2.13")
"""Group and artifact whose versions are the releases from 2.4 on. There are no newer ones of the others."""
SOURCES = "; one is looked for in $KAFKA_HOME/libs, then in the cache, and then fetched with Maven"


class Packaging(NamedTuple):
    """How releases are published, and what replaces, or stands beside, the jars that they were published with."""

    since: tuple[int, int]
    scala: str
    logger: tuple[Coordinates, ...]
    replacements: tuple[Coordinates, ...] = ()


_LOG4J_1 = (("org.slf4j", "slf4j-reload4j", "1.7.36"),)
_LOG4J_2 = (
    ("org.apache.logging.log4j", "log4j-core", "2.24.3"),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),
)
_CLIENT = ("org.apache.zookeeper", "zookeeper", "3.4.10")
PACKAGINGS = (
    Packaging((4, 0), "2.13", _LOG4J_2),
    Packaging((2, 4), "2.13", _LOG4J_1),
    Packaging((1, 0), "2.12", _LOG4J_1, (_CLIENT,)),
    Packaging((0, 0), "2.11", _LOG4J_1, (_CLIENT, ("javax.xml.bind", "jaxb-api", "2.3.1"))),
)


def major_minor(version: str) -> tuple[int, int]:
    """Return (4, 3) for `4.3.1`. InfrastructureError if the text is not a version of Kafka."""
    parts = version.split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts[:2]):
        raise InfrastructureError(f"{version!r} is not a version of Apache Kafka: give one like 4.4.0")
    return int(parts[0]), int(parts[1])


def packaging(version: str) -> Packaging:
    return next(packaging for packaging in PACKAGINGS if major_minor(version) >= packaging.since)


def coordinates(version: str) -> tuple[Coordinates, ...]:
    """Return the artifacts of a release. Their versions win over those that other artifacts depend on."""
    _, scala, logger, replacements = packaging(version)
    return ("org.apache.kafka", f"kafka_{scala}", version), *logger, *replacements


def is_at_home(version: str) -> bool:
    """Return whether `$KAFKA_HOME` holds this version, so that it need not be a known release."""
    home = os.environ.get("KAFKA_HOME")
    return home is not None and any((Path(home) / "libs").glob(f"kafka_2.*-{version}.jar"))


def kafka_jars(version: str) -> Path:
    """Return the folder with the jars of this version. One process fetches them if needed, others wait for it."""
    if home := os.environ.get("KAFKA_HOME"):
        if not is_at_home(version):
            raise InfrastructureError(
                f"KAFKA_HOME={home} does not hold Apache Kafka {version}: unset it, or ask for its version"
            )
        return Path(home) / "libs"
    return fetched(f"kafka-{version}", coordinates(version), "Apache Kafka")


def class_path(version: str) -> str:
    """Return the class path of a node. Before the jars of an unpacked old release come those that fit today's Java."""
    folders = [kafka_jars(version)]
    _, scala, _, replacements = packaging(version)
    if is_at_home(version) and replacements:
        folders.insert(0, fetched(f"beside-kafka-{scala}", replacements, "ZooKeeper's client"))
    return os.pathsep.join(f"{folder}/*" for folder in folders)
