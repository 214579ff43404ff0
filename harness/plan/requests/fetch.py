"""Fetch as a consumer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i32, i64
from pydantic import Field

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.requests.request import OfPartition, milliseconds
from fencepost.harness.wire.versions import FETCH, entity

CONSUMER = BrokerId(-1)
MAX_BYTES = i32(1 << 20)
BY_NAME = 12
"""The last version of Fetch that names topics."""


class FetchProbe(OfPartition):
    """A consumer's fetch. The offset counts from the start of the log."""

    phrase = "Fetch from {node} directly"
    listener = Listener.CLIENT
    request: Literal["fetch"] = "fetch"
    offset: Annotated[int, Field(ge=0)] = 0

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        api = connection.newest(FETCH.between(FETCH.low, BY_NAME))
        partition = api.request.FetchPartition(
            partition=i32(self.partition), fetch_offset=i64(self.offset), partition_max_bytes=MAX_BYTES
        )
        topic = api.request.FetchTopic(topic=TopicName(self.topic), partitions=(partition,))
        return fetched(connection, api, topic, replica_id=CONSUMER)


def fetched(
    connection: Connection, api: Any, topic: Any, sent: Mapping[str, object] | None = None, **replica: object
) -> ProbeAnswer:
    """Send a Fetch of one topic with one partition, and return its answer."""
    request = entity(
        api.FetchRequest,
        **replica,
        max_wait=milliseconds(0),
        min_bytes=i32(0),
        max_bytes=MAX_BYTES,
        topics=(topic,),
        forgotten_topics_data=(),
    )
    answer = connection.call(request, api.FetchResponse)
    more = {} if sent is None else {"sent": sent}
    error = getattr(answer, "error_code", ErrorCode.none)  # since version 7
    if error is not ErrorCode.none or not answer.responses:
        return answered(error, **more)
    found = answer.responses[0].partitions[0]
    return answered(found.error_code, high_watermark=found.high_watermark, bytes=len(found.records or b""), **more)
