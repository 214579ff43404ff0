"""A fault that comes and goes while another one holds, or while what it broke starts again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.faults.parameters import FaultParameters, NodeRefs
from fencepost.faults.processes.kill import KillParameters
from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.steps.hold import Hold

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

NO_CONTROLLER = "it has no controller that could miss something"


def stop(how: str, nodes: NodeRefs) -> FaultParameters:
    """Return the fault that stops nodes; a process that is started again after a kill need not answer yet."""
    return PauseParameters(nodes=nodes) if how == "pause" else KillParameters(nodes=nodes, back="running")


class MissedByTheController(Situation):
    """A broker stops and returns while the active controller, or each of them, is paused or dead (KAFKA-7235, 1120)."""

    name = "missed-by-the-controller"
    weight = 4
    needs = frozenset({Capability.KILL, Capability.PAUSE})
    left_out: Mapping[str, str] = {Dialect.LEADER_DRIVEN.value: NO_CONTROLLER}

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster, broker = script.cluster, rng.choice(script.cluster.brokers)
        both_brokers = cluster.broker_is_controller
        every = not both_brokers and rng.random() < 0.3
        controllers = "controllers" if every else "active-controller"
        outer, inner = rng.choice(("pause", "pause", "kill")), rng.choice(("kill", "kill", "pause"))
        staged.title = f"{inner} of {broker} and its return during a {outer} of {controllers}"
        staged.brokers = 2 if both_brokers else 1
        staged.quorum = 0 if both_brokers else len(cluster.quorum) if every else 1
        if both_brokers:
            controller_elsewhere(staged, broker)
        away = staged.inject(stop(outer, controllers))
        if rng.random() < 0.3:
            staged.hold(f"{away}.proven", rng.uniform(0.1, 1.2))
        missed = staged.inject(stop(inner, broker))
        staged.hold(f"{missed}.proven", rng.choice((0.0, 0.2, 0.8, 1.3)))
        back = staged.heal(missed)
        if rng.random() < 0.6:
            staged.hold(f"{back}.ended", rng.uniform(0.0, 0.8))
        staged.heal(away)
        return True


class HitWhileStarting(Situation):
    """The leader, the controller or the same node is hit while a broker that was killed starts again."""

    name = "hit-while-starting"
    weight = 3
    needs = frozenset({Capability.KILL, Capability.PAUSE})

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        partition, broker = rng.choice(cluster.partitions), rng.choice(cluster.brokers)
        leads = f"leader:{partition}"
        refs = [leads, leads, broker]
        refs += [] if cluster.target.dialect is Dialect.LEADER_DRIVEN else ["active-controller"] * 2
        other, how = rng.choice(refs), rng.choice(("kill", "kill", "pause"))
        staged.title = f"{how} of {other} while {broker} starts"
        staged.brokers, staged.quorum = _away(other, script)
        staged.brokers += 1 if other != broker else 0
        first = staged.inject(KillParameters(nodes=broker, back="running"))
        if rng.random() < 0.5:
            staged.hold(f"{first}.proven", rng.uniform(0.1, 1.5))
        if other == leads:
            staged.steps.append(LeaderIs(partition=partition, is_not=broker, within_ms=staged.within_ms))
        if other == "active-controller" and cluster.broker_is_controller:
            staged.steps.append(ActiveController(is_not=broker, within_ms=staged.within_ms))
        again = staged.heal(first)
        ms = rng.choice((0, 50, 200, 500, 1000)) * cluster.target.timeout_factor
        staged.steps.append(Hold(as_=script.name("starting"), after=f"{again}.ended", ms=ms))
        second = staged.inject(stop(how, other))
        staged.hold(f"{second}.proven", rng.uniform(0.1, 1.5))
        staged.heal(second)
        return True


def controller_elsewhere(staged: Staged, broker: str) -> None:
    """Add the steps after which a broker is not the controller."""
    killed = staged.inject(KillParameters(nodes=broker))
    staged.steps.append(ActiveController(is_not=broker, within_ms=staged.within_ms))
    staged.heal(killed)
    staged.steps.append(staged.whole())


def _away(ref: str, script: Script) -> tuple[int, int]:
    """Return the numbers of brokers and of members of the quorum that a reference leads to."""
    return (0, 1) if ref == "active-controller" and not script.cluster.broker_is_controller else (1, 0)
