"""All images that a target's nodes need, before anything is started: a build takes longer than a start may.

    python -m fencepost.harness.backends.docker.prepare TARGET...

fetches these targets and builds their images; or says why it cannot, with exit code 2.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fencepost.harness.backends.docker.commands import contained
from fencepost.harness.backends.docker.images import Image, pod_image
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import MAIN_SITE, PROBE_SITE, Layout, Node, Role
from fencepost.harness.plan.base import release_range
from fencepost.harness.plan.model import Timing
from fencepost.harness.targets.registry import load
from fencepost.harness.targets.target import Installation, Target

NOWHERE = Path("/nonexistent")
EXAMPLE = Addresses(20)


def prepare_images(target: Target) -> list[str]:
    """The tags of the images of a prepared target; what is missing is built, with progress."""
    return [image.ready() for image in images_of(target)]


def images_of(target: Target) -> list[Image]:
    """As follows from the command lines of one node of each kind."""
    nodes = tuple(_examples(target))
    installation = Installation(Layout(EXAMPLE, nodes, (MAIN_SITE, PROBE_SITE)), Timing(), "example", NOWHERE)
    images = (contained(target.command(node, installation)).image for node in nodes)
    return list(dict.fromkeys([pod_image(), *images]))


def _examples(target: Target) -> Iterator[Node]:
    """Yield a node of each kind; of a target that is upgraded, one with each release."""
    dialect = target.file.dialect
    kinds = [Role.ZOOKEEPER, Role.BROKER] if dialect.uses_zookeeper else [Role.CONTROLLER, Role.BROKER]
    for index, role in enumerate(kinds, 1):
        old = Node(f"node-{index}", index, index, frozenset({role}), EXAMPLE.node(index))
        yield from (old, replace(old, release="new")) if release_range(target.version) else (old,)


if __name__ == "__main__":
    try:
        for name in sys.argv[1:]:
            target = load(name)
            target.prepare()
            prepare_images(target)
    except (InfrastructureError, UsageError) as message:
        print(f"fencepost: {message}", file=sys.stderr)
        sys.exit(2)
