"""The log of the metadata topic, as the core's effects change it and its readers need it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from fencepost.cluster_impl.designs.quorum.raft.effects import AppendLeaderChange
from fencepost.cluster_impl.designs.quorum.raft.log_shape import recover
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd, RaftBatch
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.designs.quorum.raft.voters_record import VOTERS_KEY, encode_voters, voters_in
from fencepost.cluster_impl.storage.checkpoints import sync_directory
from fencepost.cluster_impl.storage.log import Log, OffsetMismatch
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Buffer

_READ_BYTES = 1024 * 1024
_LEADER_CHANGE_KEY = b"\0\0\0\2"
"""The key of a control record: version 0, type 2 (KIP-595, LeaderChangeMessage)."""


class MetadataLog:
    """The log in one folder.

    All records below `delivered` were returned by `committed_records`, or are in a snapshot.
    """

    def __init__(self, folder: Path, snapshots: tuple[EpochEnd, ...] = ()) -> None:
        """`snapshots` are the good ones, ascending. Raises OSError, LogGap."""
        self._log = Log.open(folder)
        try:
            # Records of an earlier process may not be durable yet, but count as durable from now on.
            self._log.flush()
            sync_directory(folder.parent)
            self.recovered = recover(
                self._log.epochs.entries, self._log.log_start_offset, self._log.log_end_offset, snapshots
            )
            if not self.recovered.keeps_log:
                self._log.begin_anew(snapshots[-1].end_offset)
        except BaseException:
            self._log.close()
            raise
        self.delivered = snapshots[-1].end_offset if snapshots else 0

    def append_fetched(self, batches: Sequence[RaftBatch]) -> None:
        """Append fetched batches. Raises as `append_records` does, and InvalidBatch."""
        self._log.append_as_follower(b"".join(batch.data for batch in batches))

    def append_records(self, base_offset: int, epoch: int, records: Sequence[bytes]) -> None:
        """Append the leader's records as one batch.

        Raises OSError, and OffsetMismatch if the log and the core disagree about its end.
        """
        now = _milliseconds()
        self._append([(None, record, now) for record in records], base_offset, epoch, control=False)

    def append_leader_change(self, change: AppendLeaderChange) -> None:
        """Append the control batch that opens an epoch. Raises as `append_records` does."""
        voter = m.LeaderChangeMessage.Voter
        message = m.LeaderChangeMessage(
            leader_id=change.leader_id,
            voters=[voter(voter_id=node_id) for node_id in change.voters],
            granting_voters=[voter(voter_id=node_id) for node_id in change.granted],
        )
        record = (_LEADER_CHANGE_KEY, message.encode(0), _milliseconds())
        self._append([record], change.base_offset, change.epoch, control=True)

    def append_voters(self, base_offset: int, epoch: int, voters: VoterSet) -> None:
        """Append the control batch of a set of voters. Raises as `append_records` does."""
        record = (VOTERS_KEY, encode_voters(voters), _milliseconds())
        self._append([record], base_offset, epoch, control=True)

    def voter_changes(self, start: int) -> list[tuple[int, VoterSet]]:
        """Return the sets of voters in the log from `start` on, with the offsets of their records."""
        voter_sets = []
        offset, end = start, self._log.log_end_offset
        while offset < end:
            for batch in format_.split(self.read(offset, end)):
                voters = voters_in(batch)
                if voters is not None:
                    voter_sets.append((batch.base_offset, voters))
                offset = batch.next_offset
        return voter_sets

    def _append(
        self, records: list[tuple[bytes | None, bytes | None, int]], base_offset: int, epoch: int, *, control: bool
    ) -> None:
        if base_offset != self._log.log_end_offset:
            raise OffsetMismatch(self._log.log_end_offset, base_offset)
        self._log.append_as_leader(bytearray(format_.build(records, control=control)), epoch)

    def truncate(self, end_offset: int) -> None:
        """Remove everything from `end_offset` on. Raises OSError."""
        self._log.truncate_to(end_offset)

    def begin_segment(self) -> None:
        """Begin a new segment, so that what lies before can be cut as a whole later. Raises OSError."""
        self._log.roll()

    def cut_before(self, offset: int) -> int:
        """Remove the segments that end at or before `offset`; return where the log begins. Raises OSError.

        No flush runs meanwhile.
        """
        self._log.cut_before(offset)
        return self._log.log_start_offset

    def begin_anew(self, snapshot: EpochEnd) -> None:
        """Remove all records; the log goes on behind a snapshot. No flush runs meanwhile. Raises OSError."""
        self._log.begin_anew(snapshot.end_offset)
        self.delivered = snapshot.end_offset

    def read(self, offset: int, limit: int) -> Buffer:
        """Return whole batches from `offset` on and below `limit`."""
        return self._log.read(offset, _READ_BYTES, limit)

    def committed_records(self, high_watermark: int) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the newly committed records with their offsets, in pieces, without control records."""
        while self.delivered < high_watermark:
            batches = format_.split(self.read(self.delivered, high_watermark))
            self.delivered = batches[-1].next_offset
            if records := data_records(batches):
                yield records

    def flush(self) -> None:
        """Make the log durable; may run in another thread. Raises OSError."""
        self._log.flush()

    def close(self) -> None:
        """Close the log. Never raises: all promised records are durable already, and the disk may have failed."""
        with suppress(OSError):
            self._log.flush()
        self._log.close()


def data_records(batches: Sequence[format_.Batch]) -> list[tuple[int, bytes]]:
    """Return the offsets and values of the records in all but control batches."""
    return [
        (record.offset, record.value or b"")
        for batch in batches
        if not batch.is_control
        for record in format_.parse(batch)
    ]


def _milliseconds() -> int:
    return int(time.time() * 1000)
