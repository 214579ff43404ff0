"""The deletion of a topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.wire.versions import DELETE_TOPICS


class DeleteTopicProbe(KafkaRequest):
    """DeleteTopics for one topic."""

    phrase = "Delete the topic {topic} through {node}"
    harmless = True
    listener = Listener.CLIENT
    sends = ("delete_topics",)
    request: Literal["delete-topic"] = "delete-topic"
    topic: str

    @property
    def journalled(self) -> Mapping[str, object]:
        return {"topic": self.topic}

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        body = {"topic_names": [self.topic], "timeout": self.timeout_ms}
        result = DELETE_TOPICS.ask(connection, body).responses[0]
        return answered(result.error_code, message=getattr(result, "error_message", None))
