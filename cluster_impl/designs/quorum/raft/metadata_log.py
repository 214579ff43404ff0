"""The metadata topic's log, as the effects of the core change it and as its readers need it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from cluster_impl.designs.quorum.raft.effects import AppendLeaderChange
from cluster_impl.designs.quorum.raft.log_shape import LogShape
from cluster_impl.designs.quorum.raft.messages import Batch
from cluster_impl.storage.checkpoints import sync_directory
from cluster_impl.storage.log import Log, OffsetMismatch
from cluster_impl.wire import batches as format_
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Buffer

_READ_BYTES = 1024 * 1024
_LEADER_CHANGE_KEY = b"\0\0\0\2"
"""The key of a control record: version 0, type 2 (KIP-595, LeaderChangeMessage)."""


class MetadataLog:
    """`delivered` is where `committed_records` goes on: everything below was given out."""

    def __init__(self, folder: Path) -> None:
        self._log = Log.open(folder)
        # What an earlier process wrote may not be durable yet; from now on it counts as if it were.
        self._log.flush()
        sync_directory(folder.parent)
        self.delivered = 0

    def shape(self) -> LogShape:
        return LogShape(self._log.epochs.entries, self._log.log_end_offset)

    def append_fetched(self, batches: Sequence[Batch]) -> None:
        """Raises as `append_records` does, and InvalidBatch."""
        self._log.append_as_follower(b"".join(batch.data for batch in batches))

    def append_records(self, base_offset: int, epoch: int, records: Sequence[bytes]) -> None:
        """Raises OSError and, if the log and the core disagree about its end, OffsetMismatch."""
        now = _milliseconds()
        self._append([(None, record, now) for record in records], base_offset, epoch, control=False)

    def append_leader_change(self, change: AppendLeaderChange) -> None:
        """Raises as `append_records` does."""
        voter = m.LeaderChangeMessage.Voter
        message = m.LeaderChangeMessage(
            leader_id=change.leader_id,
            voters=[voter(voter_id=node_id) for node_id in change.voters],
            granting_voters=[voter(voter_id=node_id) for node_id in change.granted],
        )
        record = (_LEADER_CHANGE_KEY, message.encode(0), _milliseconds())
        self._append([record], change.base_offset, change.epoch, control=True)

    def _append(
        self, records: list[tuple[bytes | None, bytes | None, int]], base_offset: int, epoch: int, *, control: bool
    ) -> None:
        if base_offset != self._log.log_end_offset:
            raise OffsetMismatch(self._log.log_end_offset, base_offset)
        self._log.append_as_leader(bytearray(format_.build(records, control=control)), epoch)

    def truncate(self, end_offset: int) -> None:
        self._log.truncate_to(end_offset)

    def read(self, offset: int, limit: int) -> Buffer:
        """Whole batches from `offset` on and below `limit`."""
        return self._log.read(offset, _READ_BYTES, limit)

    def committed_records(self, high_watermark: int) -> Iterator[list[tuple[int, bytes]]]:
        """What became committed since the last time, with offsets, in pieces; control records are nobody's business."""
        while self.delivered < high_watermark:
            batches = format_.split(self.read(self.delivered, high_watermark))
            self.delivered = batches[-1].next_offset
            if records := data_records(batches):
                yield records

    def flush(self) -> None:
        """May run in another thread."""
        self._log.flush()

    def close(self) -> None:
        """Never raises: what was promised is durable already, and the disk may be gone."""
        with suppress(OSError):
            self._log.flush()
        self._log.close()


def data_records(batches: Sequence[format_.Batch]) -> list[tuple[int, bytes]]:
    """Offsets and values of the records in all but control batches."""
    return [
        (record.offset, record.value or b"")
        for batch in batches
        if not batch.is_control
        for record in format_.parse(batch)
    ]


def _milliseconds() -> int:
    return int(time.time() * 1000)
