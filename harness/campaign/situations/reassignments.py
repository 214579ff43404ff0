"""A fault hits in the middle of a reassignment, which cannot end while its new replica sleeps."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.campaign.operations.operation import ANSWERED_WITHIN_MS
from fencepost.harness.campaign.operations.partitions import Reassign, tolerant
from fencepost.harness.campaign.situations.nested import controller_elsewhere, stop
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.reassign import ReassignProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.znodes import reassign
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script


class InAReassignment(Situation):
    """A replica moves to a broker that sleeps; the leader or the controller stops meanwhile, and both return."""

    name = "in-a-reassignment"
    weight = 4
    needs = frozenset({Capability.KILL, Capability.PAUSE})
    left_out: Mapping[str, str] = Reassign.left_out
    releases: Mapping[str, Releases] = Reassign.releases

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        topic = rng.choice(cluster.topics)
        number = rng.randrange(len(topic.assignments))
        old = topic.assignments[number]
        others = [broker for broker in cluster.brokers if cluster.id_of(broker) not in old]
        if not others or cluster.moving:
            return False
        name, new = f"{topic.name}-{number}", rng.choice(others)
        ids = _with(old, rng.randrange(len(old)), cluster.id_of(new))
        leader, controller = f"leader:{name}", "active-controller"
        second = leader if cluster.target.dialect is Dialect.LEADER_DRIVEN else rng.choice((leader, controller))
        how = rng.choice(("kill", "kill", "pause"))
        staged.title = f"{how} of {second} while {name} moves to {new}, which sleeps"
        both_brokers = second == leader or cluster.broker_is_controller
        staged.brokers, staged.quorum = (2, 0) if both_brokers else (1, 1)
        if cluster.broker_is_controller:
            controller_elsewhere(staged, new)
        asleep = staged.inject(PauseParameters(nodes=new))
        staged.steps.append(_reassignment(script, name, ids, asks=leader))
        staged.hold(f"{staged.steps[-1].as_}.ended", rng.choice((0.1, 0.3, 0.8)))
        hit = staged.inject(stop(how, second))
        staged.hold(f"{hit}.proven", rng.choice((0.2, 0.9, 1.3)))
        for fault in rng.sample((asleep, hit), 2):
            staged.heal(fault)
        assignments = tuple(ids if place == number else each for place, each in enumerate(topic.assignments))
        moved = frozenset(cluster.name_of(id) for id in {*old} ^ {*ids})
        staged.cluster = cluster.with_topic(topic.model_copy(update={"assignments": assignments}), moved)
        return True


def _with(replicas: tuple[int, ...], place: int, id: int) -> tuple[int, ...]:
    return tuple(id if at == place else each for at, each in enumerate(replicas))


def _reassignment(script: Script, partition: str, ids: tuple[int, ...], asks: str) -> Step:
    """Return the request, which nothing claims to be served. `asks` is a broker that answers it."""
    cluster, name = script.cluster, script.name("move")
    if cluster.administered_by_znodes:
        return tolerant(reassign(name, {partition: list(ids)}))
    timeout_ms = ANSWERED_WITHIN_MS * cluster.target.timeout_factor
    node = "active-controller" if cluster.only_controller_administers else asks
    to = tuple(cluster.name_of(id) for id in ids)
    return ReassignProbe(as_=name, node=node, timeout_ms=timeout_ms, partition=partition, to=to)
