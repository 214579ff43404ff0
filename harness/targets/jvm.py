"""How the JVMs of targets are started: small, quick, and with a name table of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.errors import InfrastructureError
from harness.network.layout import Node
from harness.targets.jars import kafka_jars, major_minor
from harness.targets.target import FILES, Installation

SMALL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
BROKER_HEAP = "-Xmx256m"


def require_java() -> None:
    if shutil.which("java") is None:
        raise InfrastructureError("there is no java on the PATH: apt-get install openjdk-17-jre-headless")


def name_table(node: Node, installation: Installation) -> list[str]:
    """The flags by which this JVM alone resolves names as the node is meant to."""
    return [f"-Djdk.net.hosts.file={installation.hosts(node)}", "-Djava.net.preferIPv4Stack=true"]


def shared_classes(archive: Path) -> list[str]:
    """The flag for an archive of loaded classes, if it was made."""
    return [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []


def kafka(version: str, *arguments: str) -> list[str]:
    """The command line of a JVM with this version's jars."""
    if major_minor(version) >= (4, 0):
        logging = f"-Dlog4j2.configurationFile={FILES / 'log4j2.properties'}"
    else:
        logging = f"-Dlog4j.configuration=file:{FILES / 'log4j.properties'}"
    return java(BROKER_HEAP, logging, "-cp", f"{kafka_jars(version)}/*", *arguments)


def java(*arguments: str) -> list[str]:
    return ["java", *SMALL, *arguments]
