"""Fetches from the metadata log, as an observer: a part of the log, or the snapshot that stands for it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from kio.records.readers import read_batch
from kio.records.schema import RecordBatch
from kio.schema.errors import ErrorCode
from kio.schema.fetch import v12, v13
from kio.schema.fetch.v13.response import PartitionData
from kio.schema.types import TopicName
from kio.static.primitive import i8, i32, i32Timedelta, i64

from fencepost.harness.clients.metadata.snapshot import OBSERVER, NoSnapshot, fetch_snapshot
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.plan.dialect import Dialect

KRAFT_TOPIC_ID = uuid.UUID(int=1)
CONTROL_BATCH = 0x20
HEADER = 12
"""Bytes of a batch before those that its length counts."""
POLL = i32Timedelta.parse(timedelta(milliseconds=100))
"""How long the leader may hold an answer back until there is something new."""
MAX_BYTES = i32(1 << 20)


class NotLeader(Exception):
    """This controller does not lead the metadata quorum at that epoch, or cannot say."""


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
    found = _fetch(connection, dialect, leader_epoch, offset, last_epoch)
    if found.error_code is not ErrorCode.none:
        raise NotLeader(found.error_code.name)
    if found.diverging_epoch.end_offset >= 0:
        raise NotLeader(f"diverges from what was read at offset {found.diverging_epoch.end_offset}")
    snapshot = found.snapshot_id
    if snapshot.end_offset <= offset:
        return LogPart(found.records or b"", found.high_watermark)
    try:
        content = fetch_snapshot(connection, dialect.metadata_topic, leader_epoch, snapshot)
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


def whole_batches(buffer: bytes) -> Iterator[RecordBatch]:
    """A fetch may end in the middle of a batch, which comes again whole."""
    at = 0
    while at + HEADER <= len(buffer):
        size = HEADER + int.from_bytes(buffer[at + 8 : at + HEADER], "big")
        if at + size > len(buffer):
            return
        yield read_batch(buffer, at)[0]
        at += size
