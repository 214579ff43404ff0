"""The creation of a topic."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import SettingKey, SettingValue
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.wire.versions import CREATE_TOPICS

if TYPE_CHECKING:
    from kio.schema.errors import ErrorCode


class CreateTopicProbe(KafkaRequest):
    """CreateTopics for one topic. The cluster chooses the replicas."""

    phrase = "Create the topic {topic} through {node}"
    harmless = True
    listener = Listener.CLIENT
    sends = ("create_topics",)
    request: Literal["create-topic"] = "create-topic"
    topic: str
    partitions: Annotated[int, Field(ge=1)] = 1
    replicas: Annotated[int, Field(ge=1)] = 3
    config: dict[SettingKey, SettingValue] = Field(default_factory=dict)
    """Settings of the topic, by name."""

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        error, message = create_topic(
            connection, self.topic, self.partitions, self.replicas, self.timeout_ms, self.config
        )
        return answered(error, message=message)


def create_topic(
    connection: Connection,
    topic: str,
    partitions: int,
    replicas: int,
    timeout_ms: int,
    config: Mapping[str, str] = MappingProxyType({}),
) -> tuple[ErrorCode, str | None]:
    """Request a topic, and return the node's error and message. Raise NoAnswer without an answer."""
    created = {"name": topic, "num_partitions": partitions, "replication_factor": replicas}
    configs = [{"name": key, "value": value} for key, value in config.items()]
    body = {"topics": [{**created, "assignments": [], "configs": configs}], "timeout": timeout_ms}
    result = CREATE_TOPICS.ask(connection, body, timeout_ms / 1000).topics[0]
    return result.error_code, result.error_message
