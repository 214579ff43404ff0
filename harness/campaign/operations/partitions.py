"""Partitions are added, reassigned, and given back to their preferred leaders."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked, short, written
from fencepost.harness.campaign.topics import Existence
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import TopicSpec
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.reassign import ReassignProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.harness.plan.znodes import elect_preferred, reassign
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

PREFERRED = 0
NAMED = 0.6
"""The fraction of elections of one partition: the others may not move for it."""
BY_ZNODE = 0.5
"""The fraction of administrators that write znodes, where the design has them beside the requests."""


class AddPartitions(Operation):
    """A topic gets one to three partitions more, and records are written to the last one."""

    name = "add-partitions"
    of_any_broker = True
    requests = frozenset({"create_partitions"})
    weight = 3
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=1.0"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        """More partitions than any step asked for: legal even if an earlier request was not served."""
        there = [each for each in script.topics.values() if each.existence is not Existence.DELETED]
        topic = rng.choice(there)
        more = rng.choice((1, 1, 2, 3))
        how = asked(rng, script, certain=topic.existence is Existence.CERTAIN)
        request = CreatePartitionsProbe(
            as_=script.name("add"), node=how.node, topic=topic.name, count=topic.partitions + more
        )
        after = replace(topic, partitions=topic.partitions + more)
        steps: list[Step] = [how.send(request)]
        if how.expect is not None:
            steps.append(written(script, after, after.partitions - 1))
        return GeneratedOperation(f"{short(topic.name)} gets {more} more partitions", tuple(steps), (after,))


class Reassign(Operation):
    """A partition moves: another order of its replicas, or one replica on another broker."""

    name = "reassign"
    weight = 4
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.4"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        cluster = script.cluster
        topic = rng.choice(cluster.topics)
        number = rng.randrange(len(topic.assignments))
        old = [cluster.name_of(id) for id in topic.assignments[number]]
        new = _moved(rng, old, cluster.brokers)
        ids = tuple(cluster.id_of(each) for each in new)
        changed = topic.model_copy(update={"assignments": _with(topic, number, ids)})
        after = cluster.with_topic(changed, frozenset(old) ^ frozenset(new))
        if new == old or not after.holders:
            return None
        name, title = f"{topic.name}-{number}", f"{topic.name}-{number} moved to {', '.join(new)}"
        how = asked(rng, script)
        step: Step
        if cluster.administered_by_znodes and rng.random() < BY_ZNODE:
            step = tolerant(reassign(script.name("move"), {name: [cluster.id_of(each) for each in new]}))
        else:
            step = how.send(ReassignProbe(as_=script.name("move"), node=how.node, partition=name, to=tuple(new)))
        return GeneratedOperation(title, (step,), unsettles=True, cluster=after)


class CancelReassignment(Operation):
    """Whatever moves of a partition is called off."""

    name = "cancel-reassignment"
    weight = 1
    left_out: Mapping[str, str] = {"leader-driven": "a reassignment that was accepted is carried out (DLD-30)"}
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.4"}

    def prepare(self, script: Script) -> None:
        while not script.cluster.moving:
            Reassign().add(script)

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        if not script.cluster.moving:
            return None
        topic = rng.choice(script.cluster.topics)
        name = f"{topic.name}-{rng.randrange(len(topic.assignments))}"
        how = asked(rng, script, certain=False)  # refused if nothing moves any more
        step = how.send(ReassignProbe(as_=script.name("cancel"), node=how.node, partition=name))
        return GeneratedOperation(f"reassignment of {name} called off", (step,), unsettles=True)


class ElectPreferred(Operation):
    """All partitions, or one, go back to their preferred leaders."""

    name = "elect-preferred"
    weight = 3
    releases: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.2"}

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        title, name = "preferred leaders elected", script.name("prefer")
        if script.cluster.administered_by_znodes and rng.random() < BY_ZNODE:
            step: Step = tolerant(elect_preferred(name, *script.cluster.partitions))
        else:
            # Leaders that elect among themselves give way in their own time, which is no error of theirs.
            # One that is named may have its preferred leader, which is an error (84).
            named = _named(rng.choice(script.cluster.partitions)) if rng.random() < NAMED else None
            certain = named is None and script.cluster.target.dialect is not Dialect.LEADER_DRIVEN
            how = asked(rng, script, certain=certain)
            body = {"election_type": PREFERRED, "topic_partitions": named, "timeout": how.timeout_ms}
            step = how.send(ApiProbe(as_=name, node=how.node, api="elect_leaders", body=body))
        return GeneratedOperation(title, (step,), unsettles=True)


def _named(partition: str) -> list[dict[str, Any]]:
    topic, _, number = partition.rpartition("-")
    return [{"topic": topic, "partitions": [int(number)]}]


def _moved(rng: random.Random, old: Sequence[str], brokers: Sequence[str]) -> list[str]:
    """Return the replicas in another order, or with one of them on another broker."""
    others = [each for each in brokers if each not in old]
    if others and rng.random() < 0.7:
        new = list(old)
        new[rng.randrange(len(new))] = rng.choice(others)
        return new
    return rng.sample(list(old), len(old))


def _with(topic: TopicSpec, number: int, replicas: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(replicas if place == number else each for place, each in enumerate(topic.assignments))


def tolerant(step: ZnodeStep) -> ZnodeStep:
    """Return the step, to be gone on from if ZooKeeper is away, or if it still has the request before this one."""
    return step.model_copy(update={"may_fail": True})
