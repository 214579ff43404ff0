"""A leader of the metadata quorum that answers fetches of its log, and of a snapshot, from bytes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from unittest.mock import create_autospec

from kio.schema.describe_quorum.v0 import response as quorum
from kio.schema.errors import ErrorCode
from kio.schema.fetch.v12 import request as fetch_request
from kio.schema.fetch.v12 import response as fetch
from kio.schema.fetch_snapshot.v0 import request as snapshot_request
from kio.schema.fetch_snapshot.v0 import response as fetch_snapshot
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import Records, i32, i32Timedelta, i64

from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.plan.dialect import Dialect

NO_TIME = i32Timedelta.parse(timedelta())
EPOCH = 3


@dataclass
class LogLeader:
    """Leads at epoch 3. `records` are whole batches; those before `end` are in the snapshot."""

    records: bytes
    committed: int
    snapshot: bytes | None = None
    end: int = -1
    error: ErrorCode = ErrorCode.none

    def connection(self) -> RawConnection:
        connection = create_autospec(RawConnection, instance=True)
        connection.call.side_effect = self._answer
        connection.newest.side_effect = lambda api: api.newest({api.key: (0, 0)}, "node-1")
        assert isinstance(connection, RawConnection)
        return connection

    def _answer(self, request: object, *_: object) -> object:
        match request:
            case fetch_request.FetchRequest():
                return self._fetched(request.topics[0].partitions[0].fetch_offset)
            case snapshot_request.FetchSnapshotRequest():
                return self._part(request.topics[0].partitions[0].position)
            case _:
                return self._described()

    def _fetched(self, offset: int) -> fetch.FetchResponse:
        behind = self.snapshot is not None and offset < self.end
        partition = fetch.PartitionData(
            partition_index=i32(0),
            error_code=self.error,
            high_watermark=i64(self.committed),
            snapshot_id=fetch.SnapshotId(end_offset=i64(self.end if behind else -1), epoch=i32(EPOCH)),
            aborted_transactions=None,
            records=None if behind or offset > self.end + 1 else Records(self.records),
        )
        topic = fetch.FetchableTopicResponse(topic=TopicName(Dialect.KIP_631.metadata_topic), partitions=(partition,))
        return fetch.FetchResponse(throttle_time=NO_TIME, error_code=ErrorCode.none, responses=(topic,))

    def _part(self, position: int) -> fetch_snapshot.FetchSnapshotResponse:
        content = self.snapshot or b""
        part = fetch_snapshot.PartitionSnapshot(
            index=i32(0),
            error_code=ErrorCode.none,
            snapshot_id=fetch_snapshot.SnapshotId(end_offset=i64(self.end), epoch=i32(EPOCH)),
            current_leader=fetch_snapshot.LeaderIdAndEpoch(leader_id=BrokerId(1), leader_epoch=i32(EPOCH)),
            size=i64(len(content)),
            position=i64(position),
            unaligned_records=Records(content[position:]),
        )
        topic = fetch_snapshot.TopicSnapshot(name=TopicName(Dialect.KIP_631.metadata_topic), partitions=(part,))
        return fetch_snapshot.FetchSnapshotResponse(throttle_time=NO_TIME, error_code=ErrorCode.none, topics=(topic,))

    def _described(self) -> quorum.DescribeQuorumResponse:
        partition = quorum.PartitionData(
            partition_index=i32(0),
            error_code=self.error,
            leader_id=BrokerId(1),
            leader_epoch=i32(EPOCH),
            high_watermark=i64(self.committed),
            current_voters=(),
            observers=(),
        )
        topic = quorum.TopicData(topic_name=TopicName(Dialect.KIP_631.metadata_topic), partitions=(partition,))
        return quorum.DescribeQuorumResponse(error_code=ErrorCode.none, topics=(topic,))
