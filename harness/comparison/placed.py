"""A plan for one target, run on another: with the deciding nodes that the other has."""

from __future__ import annotations

from fencepost.harness.plan import topologies
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.registry import load_file, reference_of

_QUORUMS = frozenset({Dialect.KIP_631, Dialect.KRAFT})
"""Dialects with the same kinds of nodes."""


def placed(plan: Plan, target: str) -> Plan:
    """Return the plan for a target: the same brokers, beside the controllers or ZooKeeper servers that it has.

    `check_plan` says what else does not fit. Raise UsageError if there is no such target.
    """
    file, own = load_file(target), load_file(plan.target).dialect
    topology = plan.topology
    if file.dialect is not own and not {file.dialect, own} <= _QUORUMS:
        alone = {"roles": ("broker",), "controller_id": None}
        brokers = [node.model_copy(update=alone) for node in topology.nodes if "broker" in node.roles]
        nodes = (*topologies.services(file.services), *topologies.deciders(file.dialect), *brokers)
        topology = topology.model_copy(update={"nodes": nodes})
    return plan.model_copy(update={"target": reference_of(target), "topology": topology})
