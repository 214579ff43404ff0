"""Follows the metadata log at its leader, as an observer: committed records only, nothing is acknowledged."""

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
from kio.schema.types import TopicName
from kio.static.primitive import i8, i32, i32Timedelta, i64

from fencepost.harness.clients.metadata.image import Image
from fencepost.harness.clients.metadata.records import decode_draft, decode_kraft
from fencepost.harness.clients.metadata.snapshot import OBSERVER, NoSnapshot, fetch_snapshot
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.plan.dialect import Dialect

DRAFT_TOPIC = "__kafka_metadata"
KRAFT_TOPIC = "__cluster_metadata"
KRAFT_TOPIC_ID = uuid.UUID(int=1)
DECODERS = {Dialect.KIP_631: decode_draft, Dialect.KRAFT: decode_kraft}
CONTROL_BATCH = 0x20
HEADER = 12
"""Bytes of a batch before those that its length counts."""
POLL = i32Timedelta.parse(timedelta(milliseconds=100))
"""How long the leader may hold an answer back until there is something new."""
MAX_BYTES = i32(1 << 20)


class NotLeader(Exception):
    """This controller does not lead the metadata quorum at that epoch, or cannot say."""


@dataclass
class Tail:
    """How far the log was read: `image` up to its offset, `epoch` is the leader epoch of that record's batch."""

    dialect: Dialect
    image: Image = field(default_factory=Image)
    epoch: int = 0

    def read(self, connection: RawConnection, leader_epoch: int) -> Iterator[Image]:
        """One fetch from the leader of `leader_epoch`; each image is one record further. NotLeader or `raw.NoAnswer`.

        A log that diverges from what was read is no log to follow, either: committed records never change. A leader
        with a snapshot of what was not read yet gives that instead, and the next image is that of its end.
        """
        found = fetch(connection, self.dialect, leader_epoch, self.image.offset + 1, self.epoch)
        if found.error_code is not ErrorCode.none:
            raise NotLeader(found.error_code.name)
        if found.diverging_epoch.end_offset >= 0:
            raise NotLeader(f"diverges from what was read at offset {found.diverging_epoch.end_offset}")
        if found.snapshot_id.end_offset > self.image.offset + 1:
            yield self._load(connection, leader_epoch, found.snapshot_id)
        else:
            yield from self._replay(found.records or b"", found.high_watermark)

    def _load(self, connection: RawConnection, leader_epoch: int, snapshot: SnapshotId) -> Image:
        topic = KRAFT_TOPIC if self.dialect is Dialect.KRAFT else DRAFT_TOPIC
        try:
            content = fetch_snapshot(connection, topic, leader_epoch, snapshot)
        except NoSnapshot as error:
            raise NotLeader(f"the snapshot at {snapshot.end_offset}: {error}") from error
        decode, loaded, end = DECODERS[self.dialect], Image(), snapshot.end_offset - 1
        for batch in whole_batches(content):
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


def fetch(
    connection: RawConnection, dialect: Dialect, leader_epoch: int, offset: int, last_epoch: int
) -> PartitionData:
    """Return the leader's answer to an observer's fetch from `offset`. NotLeader or `raw.NoAnswer`.

    `last_epoch` is the leader epoch of the record before. Version 12 names topics, as the draft does; from 13 on they
    have ids, the one thing that Kafka looks at.
    """
    api: Any = v13 if dialect is Dialect.KRAFT else v12
    name = {"topic_id": KRAFT_TOPIC_ID} if api is v13 else {"topic": TopicName(DRAFT_TOPIC)}
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


def whole_batches(buffer: bytes) -> Iterator[RecordBatch]:
    """A fetch may end in the middle of a batch, which comes again whole."""
    at = 0
    while at + HEADER <= len(buffer):
        size = HEADER + int.from_bytes(buffer[at + 8 : at + HEADER], "big")
        if at + size > len(buffer):
            return
        yield read_batch(buffer, at)[0]
        at += size
