"""The whole metadata log of the KIP-631 draft, read once from its leader: a snapshot, if one begins it, and records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kio.records.schema import RecordBatch

from fencepost.harness.clients.metadata.draft_records import DraftRecord, MalformedRecord, decode
from fencepost.harness.clients.metadata.fetching import CONTROL_BATCH, SnapshotPart, fetch_part, whole_batches
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.plan.dialect import Dialect

FRUITLESS = 10
"""Fetches in a row that may bring nothing below the high watermark, which can move while an answer is made."""


class MalformedLog(Exception):
    """A batch or a record is not what the text says. The message says where, and why."""


@dataclass(frozen=True)
class PlacedRecord:
    """A record at its offset, in the log or in the snapshot. `batch` is the first offset of its batch."""

    offset: int
    batch: int
    record: DraftRecord


@dataclass(frozen=True)
class MetadataLog:
    """All committed metadata. `snapshot_end` is the offset behind the snapshot, None if the log has its beginning."""

    snapshot_end: int | None
    snapshot: tuple[PlacedRecord, ...]
    log: tuple[PlacedRecord, ...]


def read_log(connection: RawConnection, leader_epoch: int) -> MetadataLog:
    """Read up to the high watermark of the leader of `leader_epoch`. NotLeader, MalformedLog or `raw.NoAnswer`."""
    snapshot_end: int | None = None
    snapshot: tuple[PlacedRecord, ...] = ()
    log: list[PlacedRecord] = []
    offset = epoch = fruitless = 0
    while fruitless < FRUITLESS:
        part = fetch_part(connection, Dialect.KIP_631, leader_epoch, offset, epoch)
        if isinstance(part, SnapshotPart):
            snapshot = tuple(each for batch in _batches(part.content) for each in _records(batch, "the snapshot"))
            log.clear()
            offset = snapshot_end = part.end_offset
            epoch = part.epoch
            continue
        before = offset
        for batch in _batches(part.records):
            log += (each for each in _records(batch, "the log") if offset <= each.offset < part.high_watermark)
            offset = max(offset, batch.base_offset + batch.last_offset_delta + 1)
            epoch = batch.partition_leader_epoch
        if offset >= part.high_watermark:
            return MetadataLog(snapshot_end, snapshot, tuple(log))
        fruitless = fruitless + 1 if offset == before else 0
    raise MalformedLog(f"the leader gives nothing from offset {offset} on, and says that more is committed")


def _batches(buffer: bytes) -> list[RecordBatch]:
    try:
        return list(whole_batches(buffer))
    except Exception as error:
        raise MalformedLog(f"a batch cannot be read: {error!r}") from error


def _records(batch: RecordBatch, where: str) -> Iterator[PlacedRecord]:
    """Yield the records of a batch; those of a control batch are no metadata, and have keys.

    KIP-631, Record Formats: a record has a null key.
    """
    if batch.attributes & CONTROL_BATCH:
        return
    for each in batch.records:
        at = f"the record at offset {each.offset} of {where}"
        if each.key is not None:
            raise MalformedLog(f"{at} has the key {each.key!r}")
        try:
            record = decode(each.value or b"")
        except MalformedRecord as error:
            raise MalformedLog(f"{at}: {error}") from error
        yield PlacedRecord(int(each.offset), int(batch.base_offset), record)
