"""Fetches a snapshot of the metadata for a reader that is behind the log or starts with it (FetchSnapshot, KIP-630)."""

from __future__ import annotations

from kio.schema.errors import ErrorCode
from kio.schema.fetch.v13.response import SnapshotId
from kio.schema.fetch_snapshot.v0 import request, response
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i32, i64

from fencepost.harness.clients.raw import RawConnection

OBSERVER = BrokerId(-1)
PART_BYTES = i32(1 << 20)


class NoSnapshot(Exception):
    """The controller does not give the snapshot: it has no such one any more, or does not lead."""


def fetch_snapshot(connection: RawConnection, topic: str, leader_epoch: int, snapshot: SnapshotId) -> bytes:
    """Return the record batches of a snapshot, fetched in parts of 1 MiB. NoSnapshot or `raw.NoAnswer`."""
    content = b""
    while True:
        part = _part(connection, topic, leader_epoch, snapshot, len(content))
        if part.error_code is not ErrorCode.none:
            raise NoSnapshot(part.error_code.name)
        content += part.unaligned_records
        if len(content) >= part.size:
            return content
        if not part.unaligned_records:
            raise NoSnapshot(f"it ends after {len(content)} of {part.size} bytes")


def _part(
    connection: RawConnection, topic: str, leader_epoch: int, snapshot: SnapshotId, position: int
) -> response.PartitionSnapshot:
    asked = request.PartitionSnapshot(
        partition=i32(0),
        current_leader_epoch=i32(leader_epoch),
        snapshot_id=request.SnapshotId(end_offset=snapshot.end_offset, epoch=snapshot.epoch),
        position=i64(position),
    )
    answer = connection.call(
        request.FetchSnapshotRequest(
            replica_id=OBSERVER,
            max_bytes=PART_BYTES,
            topics=(request.TopicSnapshot(name=TopicName(topic), partitions=(asked,)),),
        ),
        response.FetchSnapshotResponse,
    )
    if answer.error_code is not ErrorCode.none or not answer.topics:
        raise NoSnapshot(answer.error_code.name)
    return answer.topics[0].partitions[0]
