"""The end of a partition."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.requests.metadata import leader_epoch
from fencepost.harness.plan.requests.request import OfPartition
from fencepost.harness.wire.versions import LIST_OFFSETS

CONSUMER = -1
LATEST = -1


class ListOffsetsProbe(OfPartition):
    """ListOffsets for the end that a consumer may read to (the high watermark)."""

    phrase = "Ask {node} for the end of {topic}-{partition}"
    harmless = True
    listener = Listener.CLIENT
    sends = ("list_offsets",)
    request: Literal["list-offsets"] = "list-offsets"

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        topic = {"name": self.topic, "partitions": [{"partition_index": self.partition, "timestamp": LATEST}]}
        body = {"replica_id": CONSUMER, "isolation_level": 0, "topics": [topic]}
        found = LIST_OFFSETS.ask(connection, body).topics[0].partitions[0]
        return answered(found.error_code, offset=found.offset, leader_epoch=leader_epoch(found))
