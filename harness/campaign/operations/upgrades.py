"""Nodes are upgraded and downgraded, and the upgrade is finalized: of targets with two releases.

The steps of a script show which release each node runs, so nothing else has to remember it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from fencepost.faults.capabilities import Capability
from fencepost.faults.generation import GeneratedFault
from fencepost.harness.campaign.operations.operation import SERVED_WITHIN_MS, GeneratedOperation, Operation
from fencepost.harness.plan.base import Expect, ExpectOutcome, Level, Release, release_range
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.requests.update_features import UpdateFeaturesProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.roll import Roll
from fencepost.harness.targets.file import TargetFile

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

GOES_BACK = 0.25
"""The fraction of moves that downgrade a node, of those that could."""
ENDS_NEW = 0.75
"""The fraction of plans that end with the new release, of those in which nodes have different ones."""
ENDS_FINAL = 0.5
"""The fraction of plans that finalize the upgrade at their end, of those that end with the new release."""
KILLED = 0.3
"""The fraction of nodes that are killed before they are upgraded; the others are shut down."""


class Upgrade(Operation):
    """A node is upgraded, or downgraded, or the upgrade is finalized once all nodes have the new release."""

    name = "upgrade"
    weight = 24
    """As much as all other operations together: it is what the target was named for."""
    essential = True

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        if release_range(version) is None:
            return f"{target.name}:{version} has one release; a version such as 3.9.2..4.4.0 names two"
        return super().left_out_reason(target, version, possible)

    def add(self, script: Script) -> str | None:
        """Add the operation, after healing the faults beside which no node can be rolled."""
        if not is_final(script.steps) and not any(_may_be_away(script, node) for node in _nodes(script)):
            script.heal_all()
        return super().add(script)

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        """Roll a node that no fault holds, if as many may be away. Finalize a cluster that is whole."""
        if is_final(script.steps):
            return None
        old, new = _with(script, "old"), _with(script, "new")
        if not old:
            return _operation(script, "the upgrade finalized", _finalization(script)) if script.undisturbed else None
        release: Release = "old" if new and rng.random() < GOES_BACK else "new"
        nodes = [each for each in (new if release == "old" else old) if _may_be_away(script, each)]
        if not nodes:
            return None
        node = rng.choice(nodes)
        return _operation(script, f"{node} {release}", [_roll(rng, script, node, release)], release)


def final_steps(rng: random.Random, script: Script) -> Iterator[Step]:
    """Yield the steps that give all nodes one release, at the end of a script, when all faults are healed."""
    old, new = _with(script, "old"), _with(script, "new")
    if not new:
        return
    release: Release = "new" if is_final(script.steps) or rng.random() < ENDS_NEW else "old"
    for node in old if release == "new" else new:
        yield _roll(rng, script, node, release)
    if release == "new" and not is_final(script.steps) and rng.random() < ENDS_FINAL:
        yield Converged(as_=script.name("whole"), within_ms=script.cluster.liveness_timeout_ms)
        yield from _finalization(script)


def releases_after(steps: Sequence[Step]) -> dict[str, Release]:
    """Return the release of each node that the steps roll. All others have the old one."""
    return {step.node: step.release for step in steps if isinstance(step, Roll) and step.release is not None}


def is_final(steps: Sequence[Step]) -> bool:
    """Return whether the steps finalize the upgrade, or a part of it: then there is no way back."""
    return any(isinstance(step, UpdateFeaturesProbe) or (isinstance(step, Roll) and step.level) for step in steps)


def _with(script: Script, release: Release) -> list[str]:
    """Return the brokers and controllers with this release after the steps so far."""
    rolled = releases_after(script.steps)
    return [node for node in _nodes(script) if rolled.get(node, "old") == release]


def _nodes(script: Script) -> tuple[str, ...]:
    cluster = script.cluster
    return cluster.brokers if cluster.uses_zookeeper else (*cluster.quorum, *cluster.brokers)


def _may_be_away(script: Script, node: str) -> bool:
    """Return whether this node may end while the present faults hold, and is sure to come back."""
    if not script.held:
        return True
    faults = [each.fault for each in script.held]
    if script.fragile or not all(_leaves_alone(each, node) for each in faults):
        return False
    brokers, quorum = sum(each.brokers for each in faults), sum(each.quorum for each in faults)
    if node in script.cluster.brokers:
        brokers += 1
    else:
        quorum += 1
    return brokers <= script.cluster.spare_brokers and quorum <= script.cluster.spare_quorum


def _leaves_alone(fault: GeneratedFault, node: str) -> bool:
    """Return whether the fault is sure to hit other nodes, and no link that this one needs to come back."""
    others = bool(fault.aim.named) and node not in fault.aim.named and not fault.roles
    return others and fault.stops_nodes and not fault.fragile and not fault.exclusive


def _roll(rng: random.Random, script: Script, node: str, release: Release) -> Roll:
    how: Literal["shutdown", "kill"] = "kill" if rng.random() < KILLED else "shutdown"
    return Roll(as_=script.name(f"roll-{release}"), node=node, release=release, how=how)


def _finalization(script: Script) -> list[Step]:
    """Return the request for the features of the new release, or a roll of each broker to its protocol."""
    if script.cluster.uses_zookeeper:
        return [Roll(as_=script.name("finalize"), node=node, level="new") for node in script.cluster.brokers]
    served = ExpectOutcome(level=Level.MUST, requirement="UPG-03", outcome="served")
    timeout_ms = SERVED_WITHIN_MS * script.cluster.target.timeout_factor
    return [
        UpdateFeaturesProbe(as_=script.name("finalize"), node="active-controller", timeout_ms=timeout_ms, expect=served)
    ]


def _operation(script: Script, title: str, steps: Sequence[Step], release: Release | None = None) -> GeneratedOperation:
    """Return the operation. If nothing was broken before it, the cluster has to become whole again after it."""
    if not script.undisturbed:
        return GeneratedOperation(title, tuple(steps), unsettles=True)
    requirement = {"new": "UPG-02", "old": "UPG-05", None: "UPG-03"}[release]
    expect = Expect(level=Level.MUST, requirement=requirement)
    whole = Converged(as_=script.name("whole"), within_ms=script.cluster.liveness_timeout_ms, expect=expect)
    return GeneratedOperation(title, (*steps, whole))
