"""Plans whose controllers do not all vote all the time: what a majority is depends on when a request took effect."""

from __future__ import annotations

from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe

CHANGES = ("add_raft_voter", "remove_raft_voter")


def voters_change(plan: Plan) -> bool:
    """Return whether a request changes the voters, or a controller joins later."""
    controllers = (node for node in plan.topology.nodes if "controller" in node.roles)
    joins = any(node.start == "later" and node.duplicate_of is None for node in controllers)
    return joins or any(isinstance(step, ApiProbe) and step.api in CHANGES for step in plan.steps)
