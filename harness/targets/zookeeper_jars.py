"""The jars of a ZooKeeper server.

They come from the first of these that has them: `$ZOOKEEPER_HOME`, which is an unpacked release, or `/usr/share/java`
for Debian's package; pyspark, whose jars hold a complete server; Debian's package; the cache, filled by Maven.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.cache_folder import is_cached
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.maven import fetched, pyspark_jars
from fencepost.harness.targets.target import FILES

VERSION = "3.9.5"
"""The version to fetch if no other source has the jars."""
NAME = f"zookeeper-{VERSION}"
DEBIAN = Path("/usr/share/java")
SERVER = ("zookeeper-[0-9]*.jar", "zookeeper-jute-*.jar", "slf4j-api-*.jar", "metrics-core-*.jar", "snappy-java-*.jar")
"""The jars that a server needs. Without snappy-java it starts and refuses to serve."""
LOGGER = ("log4j-slf4j2-impl-*.jar", "log4j-core-*.jar", "log4j-api-*.jar")
DEBIAN_JARS = ("zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-log4j12", "log4j-1.2", "metrics-core", "snappy-java")
COORDINATES = (
    ("org.apache.zookeeper", "zookeeper", VERSION),
    ("io.dropwizard.metrics", "metrics-core", "4.1.12.1"),
    ("org.xerial.snappy", "snappy-java", "1.1.10.5"),
    ("org.apache.logging.log4j", "log4j-slf4j2-impl", "2.24.3"),
    ("org.apache.logging.log4j", "log4j-core", "2.24.3"),
)


@dataclass(frozen=True)
class ZooKeeperJars:
    """A class path, and the source of its jars."""

    origin: str
    entries: tuple[Path, ...]

    @property
    def class_path(self) -> str:
        return ":".join(map(str, self.entries))

    @property
    def logging(self) -> list[str]:
        """Flags that make any of the three loggers write to standard output."""
        return [
            f"-Dlog4j.configuration=file:{FILES / 'log4j.properties'}",
            f"-Dlog4j2.configurationFile={FILES / 'log4j2.properties'}",
            f"-Dlogback.configurationFile={FILES / 'logback.xml'}",
        ]


def zookeeper_jars() -> ZooKeeperJars:
    """Return the jars of the first source that has them, or fetch them. InfrastructureError if that fails."""
    return found_jars() or _fetched()


def found_jars() -> ZooKeeperJars | None:
    """Return the jars of the first source that needs no download, or None."""
    if home := os.environ.get("ZOOKEEPER_HOME"):
        return _debian(Path(home)) or _home(Path(home))
    return _pyspark() or _debian(DEBIAN) or (_fetched() if is_cached(NAME) else None)


def from_kafka(folder: Path) -> ZooKeeperJars:
    """Return the ZooKeeper jars in a release of Apache Kafka."""
    return ZooKeeperJars("Apache Kafka's jars", (folder / "*",))


def _home(home: Path) -> ZooKeeperJars:
    entries = tuple(sorted({*home.glob("zookeeper-*.jar"), *home.glob("lib/*.jar")}))
    if not any(entry.name.startswith("zookeeper") for entry in entries):
        raise InfrastructureError(
            f"ZOOKEEPER_HOME={home} holds no zookeeper-*.jar, nor does its lib: correct or unset it"
        )
    return ZooKeeperJars("ZOOKEEPER_HOME", entries)


def _pyspark() -> ZooKeeperJars | None:
    folder = pyspark_jars()
    if folder is None or not all(needed := [sorted(folder.glob(pattern)) for pattern in SERVER]):
        return None
    logger = [path for pattern in LOGGER for path in sorted(folder.glob(pattern))]
    return ZooKeeperJars("pyspark", (*(paths[0] for paths in needed), *logger))


def _debian(folder: Path) -> ZooKeeperJars | None:
    if not (folder / "zookeeper.jar").exists():
        return None
    entries = tuple(path for name in DEBIAN_JARS if (path := folder / f"{name}.jar").exists())
    return ZooKeeperJars("Debian's package", entries)


def _fetched() -> ZooKeeperJars:
    folder = fetched(NAME, COORDINATES, "ZooKeeper")
    return ZooKeeperJars("the cache", tuple(sorted(folder.glob("*.jar"))))
