"""The log of one voter as its core knows it: what is written, durable, committed, and in snapshots."""

from collections.abc import Callable, Sequence

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogShape
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd, RaftBatch
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.failures import NodeFailure

SNAPSHOTS_KEPT = 2
"""The log starts at the older one, so that a damaged newer one loses nothing (decision 0053)."""


class CommittedRecordsAtRisk(NodeFailure):
    """The leader asks this voter to remove records that it knows to be committed (KAFKA-12460). It must stop."""


class ReplicatedLog:
    """Every change of the log is noted in `shape` and goes as an effect to `emit`.

    What `snapshots` hold is committed. They are ascending by their end.
    """

    def __init__(self, shape: LogShape, snapshots: tuple[EpochEnd, ...], emit: Callable[[fx.Effect], None]) -> None:
        self.shape = shape
        self.snapshots = snapshots
        self.high_watermark = snapshots[-1].end_offset if snapshots else 0
        self.durable_end = shape.end_offset
        self._flushing = False
        self._emit = emit

    @property
    def end(self) -> EpochEnd:
        return self.shape.end

    @property
    def end_offset(self) -> int:
        return self.shape.end_offset

    def append_records(self, epoch: int, records: Sequence[bytes]) -> None:
        self._emit(fx.AppendRecords(self.end_offset, epoch, records))
        self.shape.append(epoch, self.end_offset + len(records))

    def append_leader_change(
        self, epoch: int, leader_id: int, voters: tuple[int, ...], granted: tuple[int, ...]
    ) -> None:
        self._emit(fx.AppendLeaderChange(self.end_offset, epoch, leader_id, voters, granted))
        self.shape.append(epoch, self.end_offset + 1)

    def append_voters(self, epoch: int, voters: VoterSet) -> None:
        self._emit(fx.AppendVoters(self.end_offset, epoch, voters))
        self.shape.append(epoch, self.end_offset + 1)

    def append_fetched(self, batches: tuple[RaftBatch, ...]) -> None:
        for batch in batches:
            self.shape.append(batch.epoch, batch.next_offset)
        if batches:
            self._emit(fx.Append(batches))

    def is_continued_by(self, batches: Sequence[RaftBatch], epoch: int) -> bool:
        """Return True if the batches follow this log without a gap, in ascending epochs not above `epoch`."""
        last = self.end
        for batch in batches:
            if batch.base_offset != last.end_offset or not last.epoch <= batch.epoch <= epoch:
                return False
            last = EpochEnd(batch.epoch, batch.next_offset)
        return True

    def truncate(self, diverging: EpochEnd, leader: str) -> int:
        """Remove what differs from the log of `leader`; return the new end. Raises CommittedRecordsAtRisk."""
        end_offset = self.shape.truncation_point(diverging)
        if end_offset < self.high_watermark:
            raise CommittedRecordsAtRisk(
                f"{leader} asks to truncate to {end_offset}, below its high watermark {self.high_watermark}: "
                "committed metadata was lost elsewhere"
            )
        self.shape.truncate(end_offset)
        # No flush runs, which could report a later end: a follower fetches only while all that it has is durable.
        self.durable_end = min(self.durable_end, end_offset)
        self._emit(fx.Truncate(end_offset))
        return end_offset

    def commit(self, offset: int) -> None:
        if offset > self.high_watermark:
            self.high_watermark = offset
            self._emit(fx.HighWatermarkAdvance(offset))

    # Durability

    def flush(self) -> None:
        """Start to make the log durable up to its end, unless it is or a flush runs."""
        if self.durable_end < self.end_offset and not self._flushing:
            self._flushing = True
            self._emit(fx.Flush(self.end_offset))

    def flushed(self, end_offset: int) -> None:
        assert end_offset <= self.end_offset, "nothing is truncated while a flush runs"
        self._flushing = False
        self.durable_end = end_offset

    # Snapshots

    def needs_snapshot(self, fetcher_end: EpochEnd) -> bool:
        """Return True if the records that follow `fetcher_end` are cut off here."""
        return not self.shape.reaches(fetcher_end)

    def add_snapshot(self, snapshot: EpochEnd) -> None:
        """Note a durable snapshot that this voter made."""
        if not self.snapshots or snapshot.end_offset > self.snapshots[-1].end_offset:
            self.snapshots = (*self.snapshots, snapshot)[-SNAPSHOTS_KEPT:]

    def cut(self) -> None:
        """Cut the log behind the older of two snapshots, unless a flush runs.

        Called before an input is handled: every parked fetch then waits for records behind the high watermark.
        """
        full = len(self.snapshots) == SNAPSHOTS_KEPT
        if full and not self._flushing and self.shape.start.end_offset < self.snapshots[0].end_offset:
            self.shape.cut(self.snapshots[0])
            self._emit(fx.CutLog(self.snapshots))

    def begin_anew(self, snapshot: EpochEnd) -> None:
        """Note that a fetched snapshot has taken the place of the log."""
        self.snapshots = (snapshot,)
        self.shape = LogShape((), snapshot.end_offset, snapshot)
        self.durable_end = snapshot.end_offset
        self.commit(snapshot.end_offset)
