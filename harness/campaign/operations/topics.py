"""Topics are created, deleted and created again."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fencepost.faults.fault import EVERYWHERE
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked, short, written
from fencepost.harness.campaign.topics import Existence, ScriptTopic, new_name
from fencepost.harness.plan.probes import CreateTopicProbe, DeleteTopicProbe
from fencepost.harness.plan.steps import Step

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

MANY, MANY_ON_A_JVM = 30, 200
"""The partitions of a large topic: each has to be placed, led and reported by all nodes. The nodes of the reference
cluster take a second for 30."""
LASTING = 0.4
"""The fraction of created topics that no step deletes."""


class CreateTopic(Operation):
    """A new topic, with one partition or many, under an ordinary or an odd name; records are written to it."""

    name = "create-topic"
    weight = 4

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        return _new(rng, script, lasting=rng.random() < LASTING)


class CreateHugeTopic(Operation):
    """A new topic with thousands of partitions."""

    name = "create-huge-topic"
    left_out: Mapping[str, str] = {
        EVERYWHERE: "each broker is asked for all partitions ten times a second, which takes all of a machine's "
        f"processors from about a thousand on: large topics have {MANY} partitions, or {MANY_ON_A_JVM} on a JVM"
    }

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation | None:
        return None


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
    weight = 2

    def of(self, rng: random.Random, script: Script, topic: ScriptTopic) -> GeneratedOperation:
        step, after = _deletion(rng, script, topic)
        return GeneratedOperation(f"topic {short(topic.name)} deleted", (step,), (after,))


class RecreateTopic(_OfCreatedTopic):
    """A topic that a step created is deleted, and created again under its name; the first time one is created."""

    name = "recreate-topic"
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
    name = new_name(rng, script.topics)
    many = MANY if script.cluster.target.timeout_factor == 1 else MANY_ON_A_JVM
    partitions = rng.choices((1, 2, many), weights=(6, 3, 1))[0]
    topic = ScriptTopic(name, partitions, script.cluster.fewest_replicas, Existence.CERTAIN, lasting=lasting)
    return _created(rng, script, topic, f"topic {short(topic.name)} created")


def _created(rng: random.Random, script: Script, topic: ScriptTopic, title: str) -> GeneratedOperation:
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
