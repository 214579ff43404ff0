"""A node's command line, as it is inside an image: what the image is made of follows from what the command names.

Two kinds of program are known: a module of this source tree, run by Python, and a class on a class path, run by Java.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.backends.backend import Command
from harness.backends.docker.images import ARCHIVE, JARS, LOGGING, Image, java_image, reference_image
from harness.errors import UsageError

ZOOKEEPER_MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
HOST_LOGGING = str(Path(__file__).resolve().parents[2] / "targets")
ARCHIVE_FLAG = "-XX:SharedArchiveFile="


@dataclass(frozen=True)
class Contained:
    """What to run, and in which image. The paths of a node's own files are the same inside."""

    image: Image
    argv: tuple[str, ...]


def contained(command: Command) -> Contained:
    """Raises UsageError for a program that there is no image for."""
    match list(command.argv):
        case [python, "-m", module, *arguments] if python == sys.executable:
            return Contained(reference_image(module), ("python3", "-m", module, *arguments))
        case ["java", *arguments] if "-cp" in arguments:
            return _java(arguments)
    raise UsageError(
        f"{command.argv[0]} cannot be run in a container: only Java with a class path and modules of this source tree "
        "have an image; use --backend process"
    )


def _java(arguments: Sequence[str]) -> Contained:
    """The class path becomes the folder of jars, the archive of classes that of the image."""
    at = arguments.index("-cp")
    entries = tuple(jar for entry in arguments[at + 1].split(":") for jar in _jars(Path(entry)))
    kind = "zookeeper" if ZOOKEEPER_MAIN in arguments else "apache-kafka"
    rest = [*arguments[:at], "-cp", f"{JARS}/*", *arguments[at + 2 :]]
    flags = [each.replace(HOST_LOGGING, LOGGING) for each in rest if not each.startswith(ARCHIVE_FLAG)]
    return Contained(java_image(kind, entries), ("java", f"{ARCHIVE_FLAG}{ARCHIVE}", *flags))


def _jars(entry: Path) -> list[Path]:
    """What a class path means by `folder/*`, or by a file."""
    return sorted(entry.parent.glob("*.jar")) if entry.name == "*" else [entry]
