"""Translate the command line of a node into that of a container; the files that it names become the image.

Two kinds of program are known: a module of this source tree, run by Python, and a class on a class path, run by Java.
A target file may name the image of any other.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.backends.docker.images import (
    ARCHIVE,
    JARS,
    LOGGING,
    Image,
    NamedImage,
    java_image,
    reference_image,
)
from fencepost.harness.errors import UsageError
from fencepost.harness.processes.command import Command

ZOOKEEPER_MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
HOST_LOGGING = str(Path(__file__).parents[2] / "targets")
ARCHIVE_FLAG = "-XX:SharedArchiveFile="


@dataclass(frozen=True)
class ContainerCommand:
    """A command line and its image. The paths of a node's own files are the same inside."""

    image: Image
    argv: tuple[str, ...]


def contained(command: Command, fetch: bool = True) -> ContainerCommand:
    """Translate a command. Raises UsageError for a program that has no image. Without `fetch`, nothing is fetched."""
    if command.image is not None:
        return ContainerCommand(NamedImage("named", command.image, {}), tuple(command.argv))
    match list(command.argv):
        case [python, "-m", module, *arguments] if python == sys.executable:
            return ContainerCommand(reference_image(module, fetch), ("python3", "-m", module, *arguments))
        case ["java", *arguments] if "-cp" in arguments:
            return _java(arguments)
    raise UsageError(
        f"{command.argv[0]} cannot be run in a container: only Java with a class path and modules of this source tree "
        "have an image; name one by `process: image:` in the target file, or use --backend process"
    )


def _java(arguments: Sequence[str]) -> ContainerCommand:
    """The class path becomes the folder of jars, the archive of classes that of the image."""
    at = arguments.index("-cp")
    entries = tuple(jar for entry in arguments[at + 1].split(":") for jar in _jars(Path(entry)))
    kind = "zookeeper" if ZOOKEEPER_MAIN in arguments else "apache-kafka"
    rest = [*arguments[:at], "-cp", f"{JARS}/*", *arguments[at + 2 :]]
    flags = [each.replace(HOST_LOGGING, LOGGING) for each in rest if not each.startswith(ARCHIVE_FLAG)]
    return ContainerCommand(java_image(kind, entries), ("java", f"{ARCHIVE_FLAG}{ARCHIVE}", *flags))


def _jars(entry: Path) -> list[Path]:
    """Return the jars of one class path entry: `folder/*` or a file."""
    return sorted(entry.parent.glob("*.jar")) if entry.name == "*" else [entry]
