"""Topics that a story makes on the way, asked for at one node directly."""

from __future__ import annotations

from datetime import timedelta

from kio.schema.create_topics.v7.request import CreatableTopic, CreateTopicsRequest
from kio.schema.create_topics.v7.response import CreateTopicsResponse
from kio.schema.errors import ErrorCode
from kio.schema.types import TopicName
from kio.static.primitive import i16, i32, i32Timedelta

from harness.clients.raw import RawConnection


def create_topic(
    connection: RawConnection, topic: str, partitions: int, replicas: int, timeout_ms: int
) -> tuple[ErrorCode, str | None]:
    """Ask for a topic; the error and what the node says about it. `raw.NoAnswer` if it says nothing."""
    request = CreateTopicsRequest(
        topics=(
            CreatableTopic(
                name=TopicName(topic),
                num_partitions=i32(partitions),
                replication_factor=i16(replicas),
                assignments=(),
                configs=(),
            ),
        ),
        timeout=i32Timedelta.parse(timedelta(milliseconds=timeout_ms)),
    )
    result = connection.call(request, CreateTopicsResponse, timeout_ms / 1000).topics[0]
    return result.error_code, result.error_message
