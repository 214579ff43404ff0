"""Fetch as a consumer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.requests.request import OfPartition
from fencepost.harness.wire.versions import FETCH, Api

CONSUMER = -1
MAX_BYTES = 1 << 20
BY_NAME = 12
"""The last version of Fetch that names topics."""


class FetchProbe(OfPartition):
    """A consumer's fetch. The offset counts from the start of the log."""

    phrase = "Fetch from {node} directly"
    harmless = True
    listener = Listener.CLIENT
    sends = ("fetch",)
    request: Literal["fetch"] = "fetch"
    offset: Annotated[int, Field(ge=0)] = 0

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        partition = {"partition": self.partition, "fetch_offset": self.offset, "partition_max_bytes": MAX_BYTES}
        topic = {"topic": self.topic, "partitions": [partition]}
        return fetched(connection, FETCH.between(FETCH.low, BY_NAME), topic, {"replica_id": CONSUMER})


def fetched(
    connection: Connection,
    api: Api,
    topic: Mapping[str, Any],
    replica: Mapping[str, Any],
    sent: Mapping[str, object] | None = None,
) -> ProbeAnswer:
    """Send a Fetch of one topic with one partition, and return its answer."""
    limits = {"max_wait": 0, "min_bytes": 0, "max_bytes": MAX_BYTES}
    answer = api.ask(connection, {**replica, **limits, "topics": [topic], "forgotten_topics_data": []})
    more = {} if sent is None else {"sent": sent}
    error = getattr(answer, "error_code", 0)  # since version 7
    if error or not answer.responses:
        return answered(error, **more)
    found = answer.responses[0].partitions[0]
    return answered(found.error_code, high_watermark=found.high_watermark, bytes=len(found.records or b""), **more)
