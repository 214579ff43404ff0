"""Translate the command line of a node into that of a container; the files that it names become the image.

Two kinds of program are known: a module of this source tree, run by Python, and a class on a class path, run by Java.
A target file may name the image of any other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fencepost.harness.backends.docker.images import (
    ARCHIVE,
    JARS,
    LOGGING,
    Image,
    NamedImage,
    java_image,
    pod_image,
    reference_image,
)
from fencepost.harness.errors import UsageError
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import MAIN_SITE, PROBE_SITE, Layout, Node, Role
from fencepost.harness.plan.base import release_range
from fencepost.harness.plan.model import Timing
from fencepost.harness.processes.command import Command
from fencepost.harness.targets.target import FILES, Installation, Target

ZOOKEEPER_MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
ARCHIVE_FLAG = "-XX:SharedArchiveFile="
EXAMPLE = Addresses(20)


class NoImage(UsageError):
    """The program of a node has no image that is made here."""


@dataclass(frozen=True)
class ContainerCommand:
    """A command line and its image. The paths of a node's own files are the same inside."""

    image: Image
    argv: tuple[str, ...]


def contained(command: Command, fetch: bool = True) -> ContainerCommand:
    """Translate a command. Raises NoImage for a program that has none. Without `fetch`, nothing is fetched."""
    if command.image is not None:
        return ContainerCommand(NamedImage("named", command.image, {}), tuple(command.argv))
    match list(command.argv):
        case [python, "-m", module, *arguments] if python == sys.executable:
            return ContainerCommand(reference_image(module, fetch), ("python3", "-m", module, *arguments))
        case ["java", *arguments] if "-cp" in arguments:
            return _java(arguments)
    program = next(iter(command.argv), "what runs elsewhere")
    raise NoImage(
        f"{program} cannot be run in a container: only Java with a class path and modules of this source tree have an "
        "image; name one by `process: image:` in the target file, or use --backend process"
    )


def images_of(target: Target) -> list[Image]:
    """Return the images of a target as they follow from the command lines of one node of each kind, and that of pods.

    They are known before anything starts.
    """
    nodes = tuple(_examples(target))
    layout = Layout(EXAMPLE, nodes, (MAIN_SITE, PROBE_SITE))
    installation = Installation(layout, Timing(), "example", Path("/nonexistent"))
    images = (contained(target.command(node, installation)).image for node in nodes)
    return list(dict.fromkeys([pod_image(), *images]))


def _examples(target: Target) -> Iterator[Node]:
    """Yield a node of each kind; of a target that is upgraded, one with each release."""
    for index, role in enumerate(
        (Role.ZOOKEEPER if target.file.dialect.uses_zookeeper else Role.CONTROLLER, Role.BROKER), 1
    ):
        old = Node(f"node-{index}", index, index, frozenset({role}), EXAMPLE.node(index))
        yield from (old, replace(old, release="new")) if release_range(target.version) else (old,)


def _java(arguments: Sequence[str]) -> ContainerCommand:
    """The class path becomes the folder of jars, the archive of classes that of the image."""
    at = arguments.index("-cp")
    entries = tuple(jar for entry in arguments[at + 1].split(":") for jar in _jars(Path(entry)))
    kind = "zookeeper" if ZOOKEEPER_MAIN in arguments else "apache-kafka"
    rest = [*arguments[:at], "-cp", f"{JARS}/*", *arguments[at + 2 :]]
    flags = [argument.replace(str(FILES), LOGGING) for argument in rest if not argument.startswith(ARCHIVE_FLAG)]
    return ContainerCommand(java_image(kind, entries), ("java", f"{ARCHIVE_FLAG}{ARCHIVE}", *flags))


def _jars(entry: Path) -> list[Path]:
    """Return the jars of one class path entry: `folder/*` or a file."""
    return sorted(entry.parent.glob("*.jar")) if entry.name == "*" else [entry]
