"""Command lines for the JVMs of targets: small, quick to start, each with its own name table."""

from __future__ import annotations

import shutil
from pathlib import Path

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.layout import Node
from fencepost.harness.targets.jars import class_path, major_minor
from fencepost.harness.targets.target import FILES, Installation

SMALL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
BROKER_HEAP = "-Xmx256m"


def require_java() -> None:
    """Raise InfrastructureError if there is no `java` on the PATH."""
    if shutil.which("java") is None:
        raise InfrastructureError("there is no java on the PATH: apt-get install openjdk-17-jre-headless")


def name_table(node: Node, installation: Installation) -> list[str]:
    """Return the flags that make this JVM resolve names by the hosts file of the node."""
    return [f"-Djdk.net.hosts.file={installation.hosts(node)}", "-Djava.net.preferIPv4Stack=true"]


def shared_classes(archive: Path) -> list[str]:
    """Return the flag for an archive of loaded classes, if there is one."""
    return [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []


def kafka(version: str, *arguments: str) -> list[str]:
    """Return the command line of a JVM with the jars of this version."""
    if major_minor(version) >= (4, 0):
        logging = f"-Dlog4j2.configurationFile={FILES / 'log4j2.properties'}"
    else:
        logging = f"-Dlog4j.configuration=file:{FILES / 'log4j.properties'}"
    return java(BROKER_HEAP, logging, "-cp", class_path(version), *arguments)


def java(*arguments: str) -> list[str]:
    return ["java", *SMALL, *arguments]
