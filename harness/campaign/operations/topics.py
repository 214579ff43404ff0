"""Topics are created, deleted and created again."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked, short, written
from fencepost.harness.campaign.operations.settings import changed_settings
from fencepost.harness.campaign.topics import Existence, ScriptTopic, new_name
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.sampled import HUGE
from fencepost.harness.plan.steps import Step

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

MANY, MANY_ON_A_JVM = 30, 200
"""The partitions of a large topic: each has to be placed, led and reported by all nodes. The nodes of the reference
cluster take a second for 30."""
THOUSANDS = (1000, 1000, 1000, 3000)
"""The partitions of a huge topic. On Apache Kafka 4.3.1 three brokers on two shared cores placed and led a thousand in
12 s."""
PLACED_MS = 20
"""The time that a healthy cluster has for each partition of a huge topic, beyond that for a small one."""
SLOW_TO_PLACE = f"its brokers miss their deadlines with hundreds of partitions each: a large topic has {MANY}"
"""Measured on `quorum`: with 1,000 partitions on three brokers these lose their leases again and again."""
LASTING = 0.4
"""The fraction of created topics that no step deletes."""


class CreateTopic(Operation):
    """A new topic, with one partition or many, under an ordinary or an odd name; records are written to it."""

    name = "create-topic"
    of_any_broker = True
    weight = 4

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        return _new(rng, script, lasting=rng.random() < LASTING)


class CreateHugeTopic(Operation):
    """A new topic with one to three thousand partitions, at most one a plan. What comes later meets them.

    Each has one replica and no records, so that they take a machine's processors for the metadata alone. The observer
    has a sample of them, and all are compared once the cluster is whole (`plan/sampled.py`).
    """

    name = "create-huge-topic"
    weight = 1
    of_whole_clusters = True
    left_out: Mapping[str, str] = dict.fromkeys(("quorum", "zk-controller", "leader-driven"), SLOW_TO_PLACE)

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        """The request claims nothing: a controller that takes long for it is asked twice by the broker in between."""
        if any(each.partitions > HUGE for each in script.topics.values()):
            return None
        name, partitions = new_name(rng, script.named_topics), rng.choice(THOUSANDS)
        more_ms = partitions * PLACED_MS * script.cluster.target.timeout_factor
        how = asked(rng, script, certain=False)
        how = replace(how, timeout_ms=how.timeout_ms + more_ms, background=False)
        request = CreateTopicProbe(
            as_=script.name("create"), node=how.node, topic=name, partitions=partitions, replicas=1
        )
        cluster = replace(script.cluster, placing_ms=more_ms)
        claim = Expect(level=Level.MUST, requirement="LIVE-01")
        whole = Converged(as_=script.name("whole"), within_ms=cluster.liveness_timeout_ms, expect=claim)
        topic = ScriptTopic(name, partitions, 1, Existence.DOUBTFUL)
        title = f"topic {short(name)} created with {partitions} partitions"
        return GeneratedOperation(title, (how.send(request), whole), (topic,), cluster=cluster)


class _OfCreatedTopic(Operation):
    """An operation on a topic that a step created, and that is not to last; the first time one is created."""

    def prepare(self, script: Script) -> None:
        if _one(script.rng, script) is None:
            script.operate(_new(script.rng, script, lasting=False))

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        topic = _one(rng, script)
        return _new(rng, script, lasting=False) if topic is None else self.of(rng, script, topic)

    @abstractmethod
    def of(self, rng: random.Random, script: Script, topic: ScriptTopic) -> GeneratedOperation:
        """Return the operation on this topic."""


class DeleteTopic(_OfCreatedTopic):
    """A topic that a step created is deleted; the first time one is created."""

    name = "delete-topic"
    of_any_broker = True
    weight = 2

    def of(self, rng: random.Random, script: Script, topic: ScriptTopic) -> GeneratedOperation:
        step, after = _deletion(rng, script, topic)
        return GeneratedOperation(f"topic {short(topic.name)} deleted", (step,), (after,))


class RecreateTopic(_OfCreatedTopic):
    """A topic that a step created is deleted, and created again under its name; the first time one is created.

    The first one may have settings of its own; the next one has none, and none of those of the first.
    """

    name = "recreate-topic"
    of_any_broker = True
    weight = 3

    def of(self, rng: random.Random, script: Script, topic: ScriptTopic) -> GeneratedOperation:
        step, gone = _deletion(rng, script, topic)
        again = _created(rng, script, gone, f"topic {short(topic.name)} created again")
        return GeneratedOperation(again.title, (step, *again.steps), again.topics)


def _one(rng: random.Random, script: Script) -> ScriptTopic | None:
    """Return a topic that steps may delete: one that they created, and that is not to last."""
    there = [each for each in script.topics.values() if not each.lasting and each.existence is not Existence.DELETED]
    return rng.choice(there) if there else None


def _new(rng: random.Random, script: Script, *, lasting: bool) -> GeneratedOperation:
    name = new_name(rng, script.named_topics)
    many = MANY if script.cluster.target.timeout_factor == 1 else MANY_ON_A_JVM
    partitions = rng.choices((1, 2, many), weights=(6, 3, 1))[0]
    topic = ScriptTopic(name, partitions, script.cluster.fewest_replicas, Existence.CERTAIN, lasting=lasting)
    settings = changed_settings(script.cluster.target)
    keys = () if lasting else rng.sample(sorted(settings), min(rng.choice((0, 1, 2)), len(settings)))
    config = {key: rng.choice(settings[key]) for key in keys}
    return _created(rng, script, topic, f"topic {short(topic.name)} created", config)


def _created(
    rng: random.Random, script: Script, topic: ScriptTopic, title: str, config: Mapping[str, str] = MappingProxyType({})
) -> GeneratedOperation:
    """Create a topic that is not there, and write to it."""
    in_the_way = script.cluster.uses_zookeeper and topic.name in script.topics  # its deletion goes on after the answer
    certain = topic.existence is not Existence.DOUBTFUL and not in_the_way
    how = asked(rng, script, certain=certain)
    request = CreateTopicProbe(
        as_=script.name("create"),
        node=how.node,
        topic=topic.name,
        partitions=topic.partitions,
        replicas=topic.replicas,
        config=dict(config),
    )
    existence = Existence.CERTAIN if how.expect is not None else Existence.DOUBTFUL
    steps: list[Step] = [how.send(request)]
    if rng.random() < 0.8:
        steps.append(written(script, topic, rng.randrange(topic.partitions)))
    return GeneratedOperation(title, tuple(steps), (replace(topic, existence=existence),))


def _deletion(rng: random.Random, script: Script, topic: ScriptTopic) -> tuple[DeleteTopicProbe, ScriptTopic]:
    how = asked(rng, script, certain=topic.existence is Existence.CERTAIN)
    existence = Existence.DELETED if how.expect is not None else Existence.DOUBTFUL
    request = DeleteTopicProbe(as_=script.name("delete"), node=how.node, topic=topic.name)
    return how.send(request), replace(topic, existence=existence)
