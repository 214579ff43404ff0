"""The end of a partition."""

from __future__ import annotations

from typing import Literal

from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i32, i64

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.requests.metadata import leader_epoch
from fencepost.harness.plan.requests.request import OfPartition
from fencepost.harness.wire.versions import LIST_OFFSETS, entity

CONSUMER = BrokerId(-1)
LATEST = i64(-1)


class ListOffsetsProbe(OfPartition):
    """ListOffsets for the end that a consumer may read to (the high watermark)."""

    phrase = "Ask {node} for the end of {topic}-{partition}"
    listener = Listener.CLIENT
    request: Literal["list-offsets"] = "list-offsets"

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        api = connection.newest(LIST_OFFSETS)
        partition = api.request.ListOffsetsPartition(partition_index=i32(self.partition), timestamp=LATEST)
        request = entity(
            api.ListOffsetsRequest,
            replica_id=CONSUMER,
            isolation_level=i8(0),
            topics=(api.request.ListOffsetsTopic(name=TopicName(self.topic), partitions=(partition,)),),
        )
        found = connection.call(request, api.ListOffsetsResponse).topics[0].partitions[0]
        return answered(found.error_code, offset=found.offset, leader_epoch=leader_epoch(found))
