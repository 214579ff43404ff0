"""The bytes of a snapshot (KIP-630): a header, the records in parts, and a footer, each a batch with its checksum.

A snapshot without its footer was not written to its end.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice

from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.designs.quorum.raft.voters_record import VOTERS_KEY, encode_voters, voters_in
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import Batch
from fencepost.cluster_impl.wire.codec import Buffer, Malformed

RECORDS_IN_A_PART = 500

_HEADER_KEY = b"\0\0\0\3"
"""The key of a control record: version 0, type 3."""
_FOOTER_KEY = b"\0\0\0\4"


class DamagedSnapshot(Exception):
    """Bytes that are no whole snapshot. The message names the part that is torn or damaged."""


def snapshot_parts(snapshot: EpochEnd, values: Iterable[bytes], voters: VoterSet | None = None) -> Iterator[bytes]:
    """Yield the bytes of a snapshot, part after part. `voters` is the set at its end, if the log names one."""
    now = int(time.time() * 1000)
    offset = 0

    def part(records: list[tuple[bytes | None, bytes | None, int]], *, control: bool = False) -> bytes:
        nonlocal offset
        built = format_.build(records, base_offset=offset, leader_epoch=snapshot.epoch, control=control)
        offset += len(records)
        return built

    header = m.SnapshotHeaderRecord(last_contained_log_timestamp=now).encode(0)
    of_voters = [] if voters is None else [(VOTERS_KEY, encode_voters(voters), now)]
    yield part([(_HEADER_KEY, header, now), *of_voters], control=True)
    remaining = iter(values)
    while some := list(islice(remaining, RECORDS_IN_A_PART)):
        yield part([(None, value, now) for value in some])
    yield part([(_FOOTER_KEY, m.SnapshotFooterRecord().encode(0), now)], control=True)


def snapshot_voters(data: Buffer) -> VoterSet | None:
    """Return the set of voters in a snapshot that `read_snapshot` has read."""
    view = memoryview(data)
    return voters_in(Batch(view[: format_.batch_size(view, 0)]))


def read_snapshot(data: Buffer) -> list[bytes]:
    """Return the values of the records. Raises DamagedSnapshot."""
    view = memoryview(data)
    values: list[bytes] = []
    position = offset = number = 0
    last_key = b""
    while position < len(view):
        try:
            size = format_.batch_size(view, position)
            if size is None or size > len(view) - position:
                raise Malformed("it is torn")
            batch = Batch(view[position : position + size])
            if not batch.verify_crc():
                raise Malformed("its checksum is wrong")
            if batch.base_offset != offset or last_key == _FOOTER_KEY:
                raise Malformed(f"it begins at record {batch.base_offset}, which is not its place")
            records = format_.parse(batch)
        except Malformed as error:
            raise DamagedSnapshot(f"part {number} at byte {position}: {error}") from error
        if batch.is_control:
            last_key = records[0].key or b""
            if (last_key == _HEADER_KEY) != (number == 0):
                raise DamagedSnapshot(f"part {number} at byte {position}: it has no header in its first part only")
        elif number == 0:
            raise DamagedSnapshot("part 0 at byte 0: it is no header")
        else:
            values += [record.value or b"" for record in records]
        position, offset, number = position + size, batch.next_offset, number + 1
    if last_key != _FOOTER_KEY:
        raise DamagedSnapshot(f"part {number} at byte {position}: the footer is missing")
    return values
