"""A fault, or another request, hits in the middle of a reassignment, which cannot end while its new replica sleeps."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.campaign.cluster_spec import ClusterSpec
from fencepost.harness.campaign.operations.operation import ANSWERED_WITHIN_MS, Asked
from fencepost.harness.campaign.operations.partitions import CancelReassignment, Reassign, tolerant
from fencepost.harness.campaign.operations.requests import api
from fencepost.harness.campaign.situations.nested import controller_elsewhere, stop
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.campaign.topics import Existence, ScriptTopic
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import TopicSpec
from fencepost.harness.plan.requests.reassign import ReassignProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.describe import Describe
from fencepost.harness.plan.znodes import reassign
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script


@dataclass(frozen=True)
class _Move:
    """A partition, its replicas, and those to which it moves. One of these is on a broker that it had none on."""

    topic: TopicSpec
    number: int
    new: str
    to: tuple[int, ...]

    @property
    def partition(self) -> str:
        return f"{self.topic.name}-{self.number}"

    @property
    def old(self) -> tuple[int, ...]:
        return self.topic.assignments[self.number]

    def done(self, cluster: ClusterSpec, end: Sequence[int], touched: Sequence[int]) -> ClusterSpec:
        """Return the cluster once it is at its `end`; of the brokers `touched` it is not known."""
        assignments = tuple(
            tuple(end) if place == self.number else each for place, each in enumerate(self.topic.assignments)
        )
        moved = frozenset(cluster.name_of(id) for id in touched)
        return cluster.with_topic(self.topic.model_copy(update={"assignments": assignments}), moved)


def _move(rng: random.Random, cluster: ClusterSpec) -> _Move | None:
    topic = rng.choice(cluster.topics)
    number = rng.randrange(len(topic.assignments))
    old = topic.assignments[number]
    others = [broker for broker in cluster.brokers if cluster.id_of(broker) not in old]
    if not others or cluster.moving:
        return None
    new = rng.choice(others)
    return _Move(topic, number, new, _with(old, rng.randrange(len(old)), cluster.id_of(new)))


class InAReassignment(Situation):
    """A replica moves to a broker that sleeps; the leader or the controller stops meanwhile, and both return."""

    name = "in-a-reassignment"
    weight = 4
    needs = frozenset({Capability.KILL, Capability.PAUSE})
    left_out: Mapping[str, str] = Reassign.left_out
    releases: Mapping[str, Releases] = Reassign.releases

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        move = _move(rng, cluster)
        if move is None:
            return False
        name, new = move.partition, move.new
        leader, controller = f"leader:{name}", "active-controller"
        second = leader if cluster.target.dialect is Dialect.LEADER_DRIVEN else rng.choice((leader, controller))
        how = rng.choice(("kill", "kill", "pause"))
        staged.title = f"{how} of {second} while {name} moves to {new}, which sleeps"
        both_brokers = second == leader or cluster.broker_is_controller
        staged.brokers, staged.quorum = (2, 0) if both_brokers else (1, 1)
        if cluster.broker_is_controller:
            controller_elsewhere(staged, new)
        asleep = staged.inject(PauseParameters(nodes=new))
        staged.steps.append(reassignment(script, name, move.to, asks=leader))
        staged.hold(f"{staged.steps[-1].as_}.ended", rng.choice((0.1, 0.3, 0.8)))
        hit = staged.inject(stop(how, second))
        staged.hold(f"{hit}.proven", rng.choice((0.2, 0.9, 1.3)))
        for fault in rng.sample((asleep, hit), 2):
            staged.heal(fault)
        staged.cluster = move.done(cluster, move.to, [*{*move.old} ^ {*move.to}])
        return True


class ChangedReassignment(Situation):
    """A replica moves to a broker that sleeps; the move is called off, taken back or led elsewhere meanwhile.

    What the nodes describe is compared while it is under way, and after each change.
    """

    name = "changed-reassignment"
    weight = 3
    needs = frozenset({Capability.PAUSE})
    left_out: Mapping[str, str] = CancelReassignment.left_out
    releases: Mapping[str, Releases] = CancelReassignment.releases

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        if len(cluster.brokers) < 2 or not script.allows_away(1, 0):
            return False
        *old, new, elsewhere = rng.sample([cluster.id_of(broker) for broker in cluster.brokers], len(cluster.brokers))
        if not old:
            old, new = [new], elsewhere
        to = _with(tuple(old), rng.randrange(len(old)), new)
        changes: dict[str, tuple[int, ...] | None] = {"called off": None, "taken back": tuple(old)}
        if elsewhere != new:
            changes["led elsewhere"] = _with(to, to.index(new), elsewhere)
        if len(old) > 1:
            changes["led back in another order"] = tuple(old[::-1])
        chosen = rng.sample(sorted(changes), rng.choice((1, 2)))
        if "led elsewhere" in chosen[1:]:
            chosen.reverse()  # another change finds two targets then
        topic, asleep = script.name("moved"), cluster.name_of(new)
        staged.title = f"{topic} moves to {asleep}, which sleeps, and is {', then '.join(chosen)}"
        staged.brokers = 1
        if cluster.broker_is_controller:
            controller_elsewhere(staged, asleep)
        asked = Asked(_asks(cluster, f"leader:{topic}-0"), ANSWERED_WITHIN_MS * cluster.target.timeout_factor)
        through = replace(asked, node=_asks(cluster, cluster.name_of(old[0])))
        staged.steps += [creation(script, through, topic, [old]), staged.whole()]
        fault = staged.inject(PauseParameters(nodes=asleep))
        for ids in (to, *(changes[each] for each in chosen)):
            staged.steps.append(_request(script, f"{topic}-0", ids, asked.node))
            staged.hold(f"{staged.steps[-1].as_}.ended", rng.choice((0.1, 0.3)))
            staged.steps.append(Describe(as_=script.name("moving")))
        staged.heal(fault)
        return True


def creation(script: Script, asked: Asked, name: str, assignments: Sequence[Sequence[int]]) -> Step:
    """Return the creation of a topic with these replicas, which nothing claims to be served."""
    script.topics[name] = ScriptTopic(name, len(assignments), len(assignments[0]), Existence.DOUBTFUL)
    replicas = [{"partition_index": place, "broker_ids": list(each)} for place, each in enumerate(assignments)]
    unset = {"num_partitions": -1, "replication_factor": -1, "configs": []}
    topics = [{"name": name, **unset, "assignments": replicas}]
    return api(script, "create", asked, "create_topics", {"topics": topics, "timeout": asked.timeout_ms})


def _asks(cluster: ClusterSpec, broker: str) -> str:
    return "active-controller" if cluster.only_controller_administers else broker


def _with(replicas: tuple[int, ...], place: int, id: int) -> tuple[int, ...]:
    return tuple(id if at == place else each for at, each in enumerate(replicas))


def reassignment(script: Script, partition: str, ids: tuple[int, ...], asks: str) -> Step:
    """Return the request, which nothing claims to be served. `asks` is a broker that answers it."""
    if script.cluster.administered_by_znodes:
        return tolerant(reassign(script.name("move"), {partition: list(ids)}))
    return _request(script, partition, ids, asks)


def _request(script: Script, partition: str, ids: tuple[int, ...] | None, asks: str) -> ReassignProbe:
    cluster = script.cluster
    return ReassignProbe(
        as_=script.name("move"),
        node=_asks(cluster, asks),
        timeout_ms=ANSWERED_WITHIN_MS * cluster.target.timeout_factor,
        partition=partition,
        to=None if ids is None else tuple(map(cluster.name_of, ids)),
    )
