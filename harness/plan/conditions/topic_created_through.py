"""A topic can be created through a broker."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class TopicCreatedThrough(AwaitStep):
    """A new topic can be created through this broker; the request is repeated until it succeeds."""

    phrase = "a topic can be created through {node}"
    sends = ("create_topics",)
    condition: Literal["topic-created-through"] = "topic-created-through"
    node: NodeRef

    @staticmethod
    def topic(step: str) -> str:
        """Return the name of the topic of the step of this name."""
        return f"created-at-{step}"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        creation = run.topic_creation(run.node(self.node), self.topic(name))
        return Evaluation(creation, lambda: creation.seen)
