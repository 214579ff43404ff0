"""A ZooKeeper server to run: whatever carries its jars.

In this order: `$ZOOKEEPER_HOME`, which is an unpacked release, or `/usr/share/java` for Debian's package; the jars that
pyspark brings along, which hold a complete server; Debian's package; the cache, filled by Maven.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from harness.errors import InfrastructureError
from harness.targets.jars import COMPLETE, cache_folder, fetched
from harness.targets.target import FILES

VERSION = "3.9.5"
"""What is fetched where nothing is found."""
NAME = f"zookeeper-{VERSION}"
DEBIAN = Path("/usr/share/java")
SERVER = ("zookeeper-[0-9]*.jar", "zookeeper-jute-*.jar", "slf4j-api-*.jar", "metrics-core-*.jar", "snappy-java-*.jar")
"""What a server needs; without snappy-java it answers that it does not serve."""
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
    """A class path, and who brought it."""

    origin: str
    entries: tuple[Path, ...]

    @property
    def class_path(self) -> str:
        return ":".join(map(str, self.entries))

    @property
    def logging(self) -> list[str]:
        """Flags for whichever logger is on the class path: to standard output."""
        return [
            f"-Dlog4j.configuration=file:{FILES / 'log4j.properties'}",
            f"-Dlog4j2.configurationFile={FILES / 'log4j2.properties'}",
            f"-Dlogback.configurationFile={FILES / 'logback.xml'}",
        ]


def zookeeper_jars() -> ZooKeeperJars:
    """The first there are; fetched if there are none. InfrastructureError with what to do if that fails."""
    return found_jars() or _fetched()


def found_jars() -> ZooKeeperJars | None:
    """The first that need not be fetched."""
    if home := os.environ.get("ZOOKEEPER_HOME"):
        return _debian(Path(home)) or _home(Path(home))
    return next((jars for jars in (_pyspark(), _debian(DEBIAN), _cached()) if jars is not None), None)


def kafka_s(folder: Path) -> ZooKeeperJars:
    """Those among the jars of a release of Apache Kafka."""
    return ZooKeeperJars("Apache Kafka's jars", (folder / "*",))


def _home(home: Path) -> ZooKeeperJars:
    entries = tuple(sorted({*home.glob("zookeeper-*.jar"), *home.glob("lib/*.jar")}))
    if not any(entry.name.startswith("zookeeper") for entry in entries):
        raise InfrastructureError(
            f"ZOOKEEPER_HOME={home} holds no zookeeper-*.jar, nor does its lib: correct or unset it"
        )
    return ZooKeeperJars("ZOOKEEPER_HOME", entries)


def _pyspark() -> ZooKeeperJars | None:
    spark = find_spec("pyspark")
    if spark is None or spark.origin is None:
        return None
    folder = Path(spark.origin).parent / "jars"
    needed = [sorted(folder.glob(pattern)) for pattern in SERVER]
    if not all(needed):
        return None
    logger = [path for pattern in LOGGER for path in sorted(folder.glob(pattern))]
    return ZooKeeperJars("pyspark", (*(paths[0] for paths in needed), *logger))


def _debian(folder: Path) -> ZooKeeperJars | None:
    if not (folder / "zookeeper.jar").exists():
        return None
    entries = tuple(path for name in DEBIAN_JARS if (path := folder / f"{name}.jar").exists())
    return ZooKeeperJars("Debian's package", entries)


def _cached() -> ZooKeeperJars | None:
    return _fetched() if (cache_folder() / NAME / COMPLETE).exists() else None


def _fetched() -> ZooKeeperJars:
    folder = fetched(NAME, COORDINATES, f"zookeeper-{VERSION}.jar", "ZooKeeper")
    return ZooKeeperJars("the cache", tuple(sorted(folder.glob("*.jar"))))
