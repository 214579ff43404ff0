"""Follows the metadata log at its leader, as an observer: parts of it, or the snapshot that stands for its beginning.

Nothing is acknowledged.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from kio.records.readers import read_batch
from kio.records.schema import RecordBatch
from kio.schema.errors import ErrorCode
from kio.schema.fetch import v12, v13
from kio.schema.fetch.v13.response import PartitionData, SnapshotId
from kio.schema.fetch_snapshot import v0 as fetch_snapshot
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i32, i32Timedelta, i64

from fencepost.harness.clients.metadata.image import Image
from fencepost.harness.clients.metadata.records import decode_draft, decode_kraft
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.plan.dialect import Dialect

KRAFT_TOPIC_ID = uuid.UUID(int=1)
CONTROL_BATCH = 0x20
HEADER = 12
"""Bytes of a batch before those that its length counts."""
POLL = i32Timedelta.parse(timedelta(milliseconds=100))
"""How long the leader may hold an answer back until there is something new."""
MAX_BYTES = i32(1 << 20)
OBSERVER = BrokerId(-1)
DECODERS = {Dialect.KIP_631: decode_draft, Dialect.KRAFT: decode_kraft}


class NotLeader(Exception):
    """This controller does not lead the metadata quorum at that epoch, or cannot say."""


class NoSnapshot(Exception):
    """The controller does not give the snapshot: it has no such one any more, or does not lead."""


@dataclass(frozen=True)
class LogPart:
    """Bytes of the log from the offset on that was asked for. The last batch may be cut, and comes again whole."""

    records: bytes
    high_watermark: int


@dataclass(frozen=True)
class SnapshotPart:
    """A snapshot with all records before `end_offset`; `epoch` is that of the last one."""

    content: bytes
    end_offset: int
    epoch: int


def fetch_part(
    connection: RawConnection, dialect: Dialect, leader_epoch: int, offset: int, last_epoch: int
) -> LogPart | SnapshotPart:
    """Fetch once from the leader of `leader_epoch`, from `offset` on. Raise NotLeader or `raw.NoAnswer`.

    `last_epoch` is the leader epoch of the record before. A log that diverges from what was read is no log to follow,
    either: committed records never change. A leader with a snapshot of what was not read yet gives that instead.
    """
    part = _fetch(connection, dialect, leader_epoch, offset, last_epoch)
    if part.error_code is not ErrorCode.none:
        raise NotLeader(part.error_code.name)
    if part.diverging_epoch.end_offset >= 0:
        raise NotLeader(f"diverges from what was read at offset {part.diverging_epoch.end_offset}")
    snapshot = part.snapshot_id
    if snapshot.end_offset <= offset:
        return LogPart(part.records or b"", part.high_watermark)
    try:
        content = _fetch_snapshot(connection, dialect.metadata_topic, leader_epoch, snapshot)
    except NoSnapshot as error:
        raise NotLeader(f"the snapshot at {snapshot.end_offset}: {error}") from error
    return SnapshotPart(content, snapshot.end_offset, snapshot.epoch)


def _fetch(
    connection: RawConnection, dialect: Dialect, leader_epoch: int, offset: int, last_epoch: int
) -> PartitionData:
    """Send the fetch. Version 12 names topics, as the draft does; from 13 on they have ids, which Kafka looks at."""
    api: Any = v13 if dialect is Dialect.KRAFT else v12
    name = {"topic_id": KRAFT_TOPIC_ID} if api is v13 else {"topic": TopicName(dialect.metadata_topic)}
    partition = api.request.FetchPartition(
        partition=i32(0),
        current_leader_epoch=i32(leader_epoch),
        fetch_offset=i64(offset),
        last_fetched_epoch=i32(last_epoch),
        partition_max_bytes=MAX_BYTES,
    )
    request = api.FetchRequest(
        replica_id=OBSERVER,
        max_wait=POLL,
        min_bytes=i32(1),
        max_bytes=MAX_BYTES,
        isolation_level=i8(0),
        topics=(api.request.FetchTopic(**name, partitions=(partition,)),),
        forgotten_topics_data=(),
    )
    answer = connection.call(request, api.FetchResponse)
    if answer.error_code is not ErrorCode.none or not answer.responses:
        raise NotLeader(answer.error_code.name)
    partition_data: PartitionData = answer.responses[0].partitions[0]
    return partition_data


def _fetch_snapshot(connection: RawConnection, topic: str, leader_epoch: int, snapshot: SnapshotId) -> bytes:
    """Return the record batches of a snapshot, fetched in parts of 1 MiB (KIP-630). NoSnapshot or `raw.NoAnswer`."""
    content = b""
    while True:
        part = _snapshot_part(connection, topic, leader_epoch, snapshot, len(content))
        if part.error_code is not ErrorCode.none:
            raise NoSnapshot(part.error_code.name)
        content += part.unaligned_records
        if len(content) >= part.size:
            return content
        if not part.unaligned_records:
            raise NoSnapshot(f"it ends after {len(content)} of {part.size} bytes")


def _snapshot_part(
    connection: RawConnection, topic: str, leader_epoch: int, snapshot: SnapshotId, position: int
) -> fetch_snapshot.response.PartitionSnapshot:
    asked = fetch_snapshot.request.PartitionSnapshot(
        partition=i32(0),
        current_leader_epoch=i32(leader_epoch),
        snapshot_id=fetch_snapshot.request.SnapshotId(end_offset=snapshot.end_offset, epoch=snapshot.epoch),
        position=i64(position),
    )
    answer = connection.call(
        fetch_snapshot.request.FetchSnapshotRequest(
            replica_id=OBSERVER,
            max_bytes=MAX_BYTES,
            topics=(fetch_snapshot.request.TopicSnapshot(name=TopicName(topic), partitions=(asked,)),),
        ),
        fetch_snapshot.response.FetchSnapshotResponse,
    )
    if answer.error_code is not ErrorCode.none or not answer.topics:
        raise NoSnapshot(answer.error_code.name)
    return answer.topics[0].partitions[0]


def whole_batches(buffer: bytes) -> Iterator[RecordBatch]:
    """A fetch may end in the middle of a batch, which comes again whole."""
    at = 0
    while at + HEADER <= len(buffer):
        size = HEADER + int.from_bytes(buffer[at + 8 : at + HEADER], "big")
        if at + size > len(buffer):
            return
        yield read_batch(buffer, at)[0]
        at += size


@dataclass
class Tail:
    """How far the committed log was read: `image` up to its offset, `epoch` is that of the record's batch."""

    dialect: Dialect
    image: Image = field(default_factory=Image)
    epoch: int = 0
    committed: int | None = None
    """The end of the committed log, by the last fetch; None before one that had no snapshot."""

    @property
    def caught_up(self) -> bool:
        """Return whether all is read that was committed at the last fetch."""
        return self.committed is not None and self.image.offset + 1 >= self.committed

    def read(self, connection: RawConnection, leader_epoch: int) -> Iterator[Image]:
        """One fetch from the leader of `leader_epoch`; each image is one record further. NotLeader or `raw.NoAnswer`.

        After a snapshot the next image is that of its end.
        """
        part = fetch_part(connection, self.dialect, leader_epoch, self.image.offset + 1, self.epoch)
        if isinstance(part, SnapshotPart):
            yield self._load(part)
        else:
            self.committed = part.high_watermark
            yield from self._replay(part.records, part.high_watermark)

    def _load(self, snapshot: SnapshotPart) -> Image:
        decode, loaded, end = DECODERS[self.dialect], Image(), snapshot.end_offset - 1
        for batch in whole_batches(snapshot.content):
            if not batch.attributes & CONTROL_BATCH:
                for value in (record.value for record in batch.records if record.value is not None):
                    loaded = loaded.apply(end, decode(value))
        self.image, self.epoch = loaded.after(self.image), snapshot.epoch
        return self.image

    def _replay(self, buffer: bytes, committed: int) -> Iterator[Image]:
        """Shipped Kafka gives observers what is not committed, too, which another leader may replace."""
        decode = DECODERS[self.dialect]
        for batch in whole_batches(buffer):
            for record in batch.records:
                if record.offset <= self.image.offset:
                    continue
                if record.offset >= committed:
                    return
                fact = None if batch.attributes & CONTROL_BATCH or record.value is None else decode(record.value)
                self.image = self.image.apply(record.offset, fact)
                self.epoch = batch.partition_leader_epoch
                yield self.image
