"""An administrator that works all the time, whatever is broken meanwhile."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fencepost.harness.campaign.operations.operation import Asked, GeneratedOperation, Operation, asked, short
from fencepost.harness.campaign.topics import Existence, ScriptTopic, new_name
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

TIMES = 10
EVERY_MS = 700
ANSWERED_WITHIN_MS = 1000


class Administrator(Operation):
    """A topic is created and deleted again and again, in the background of the steps that follow.

    Two clients do it through two brokers, so that a request to create meets one to delete. Each request may be refused;
    no other operation uses the topic.
    """

    name = "administrator"
    weight = 2
    left_out: Mapping[str, str] = {
        Dialect.LEADER_DRIVEN: "a command ends with the broker that works on it, and only the next one cleans up"
    }

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        topic = ScriptTopic(new_name(rng, script.named_topics), 1, script.cluster.fewest_replicas, Existence.DELETED)
        create = CreateTopicProbe(
            as_=script.name("keep-creating"),
            node=self._asked(rng, script).node,
            topic=topic.name,
            replicas=topic.replicas,
            repeat=TIMES,
            every_ms=EVERY_MS,
        )
        delete = DeleteTopicProbe(
            as_=script.name("keep-deleting"),
            node=self._asked(rng, script).node,
            topic=topic.name,
            repeat=TIMES,
            every_ms=EVERY_MS,
        )
        how = {"background": True, "timeout_ms": ANSWERED_WITHIN_MS * script.cluster.target.timeout_factor}
        steps = (create.model_copy(update=how), delete.model_copy(update=how))
        return GeneratedOperation(f"topic {short(topic.name)} created and deleted all the time", steps, (topic,))

    @staticmethod
    def _asked(rng: random.Random, script: Script) -> Asked:
        return asked(rng, script, certain=False)
