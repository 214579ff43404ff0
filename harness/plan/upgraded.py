"""Mistakes of a step that names one of the two releases of an upgrade."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost.harness.plan.base import NodeRef, Release

if TYPE_CHECKING:
    from fencepost.harness.plan.model import Plan


def release_problems(release: Release, node: NodeRef, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield (key, message) if the target has one release only, and if the node is not one that is upgraded."""
    if plan.releases is None:
        message = f"`release: {release}` needs a target with two releases, but {plan.target} has one: "
        yield "release", message + "name both, as in `apache-kafka:3.9.2..4.4.0`"
    servers = [each.name for each in plan.topology.nodes if "zookeeper" in each.roles]
    if node in (*servers, "zookeeper", "zookeeper-leader"):
        yield "node", f"{node} is a ZooKeeper server: only brokers and controllers are upgraded"
