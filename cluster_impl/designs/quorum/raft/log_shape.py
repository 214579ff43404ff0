"""The shape of a log: where it starts and ends, and where each epoch begins. Elections and truncation need nothing
else."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.storage.directory import LogDirError

ORIGIN = EpochEnd(0, 0)
"""The start of a log that has all records."""


class LogGap(LogDirError):
    """Records are missing between the snapshots of a node and its log. The node must not start."""


class LogShape:
    """Epochs with the offset at which each begins, ascending, and the end offset (exclusive).

    `start` is the end of what the log no longer holds, and that a snapshot holds in its place: the epoch of its last
    record, and the offset after it.
    """

    def __init__(self, epochs: Iterable[tuple[int, int]] = (), end_offset: int = 0, start: EpochEnd = ORIGIN) -> None:
        self.end_offset = end_offset
        self._begin(start, epochs)

    def _begin(self, start: EpochEnd, epochs: Iterable[tuple[int, int]]) -> None:
        later = [(epoch, begin) for epoch, begin in epochs if epoch > start.epoch]
        self.start = start
        # The first entry is the epoch at the start. It may have no record in this log.
        self._epochs = [start.epoch, *(epoch for epoch, _ in later)]
        self._begins = [start.end_offset, *(begin for _, begin in later)]

    @property
    def end(self) -> EpochEnd:
        """The last record's epoch (0 for an empty log) and the end offset, by which two logs are compared."""
        return EpochEnd(self._epochs[-1], self.end_offset)

    def append(self, epoch: int, next_offset: int) -> None:
        """Note that a batch of `epoch` was appended that ends at `next_offset`. Raises ValueError if it cannot
        follow."""
        last = self.end
        if epoch < last.epoch or next_offset <= last.end_offset:
            raise ValueError(f"a batch of epoch {epoch} that ends at {next_offset} cannot follow {last}")
        if epoch > last.epoch:
            self._epochs.append(epoch)
            self._begins.append(last.end_offset)
        self.end_offset = next_offset

    def truncate(self, end_offset: int) -> None:
        """Note that all records from `end_offset` on were removed."""
        self.end_offset = min(self.end_offset, end_offset)
        while len(self._begins) > 1 and self._begins[-1] >= self.end_offset:
            self._begins.pop()
            self._epochs.pop()

    def cut(self, start: EpochEnd) -> None:
        """Note that all records before `start` were removed; a snapshot that ends there holds what they say."""
        self._begin(start, list(zip(self._epochs, self._begins, strict=True)))

    def reaches(self, other: EpochEnd) -> bool:
        """Return True if this log can tell whether one that ends with `other` is a prefix of it, or where they part.

        If not, the other log is behind the start of this one, and needs a snapshot.
        """
        return other.end_offset >= self.start.end_offset and other.epoch >= self.start.epoch

    def end_at(self, offset: int) -> EpochEnd:
        """Return the end of the log as it was when `offset` was its end; `offset` is not before the start."""
        index = bisect_left(self._begins, offset) - 1
        return EpochEnd(self._epochs[index], offset) if index >= 0 else self.start

    def epoch_end(self, epoch: int) -> EpochEnd:
        """Return the largest epoch not above `epoch`, and its end offset. Epoch 0 ends at 0, before all records."""
        index = bisect_right(self._epochs, epoch)
        if index == 0:
            return ORIGIN
        end = self._begins[index] if index < len(self._begins) else self.end_offset
        return EpochEnd(self._epochs[index - 1], end)

    def divergence(self, other: EpochEnd) -> EpochEnd | None:
        """Return None if a log that ends with `other` is a prefix of this one; else the end of that epoch here
        (KIP-595)."""
        mine = self.epoch_end(other.epoch)
        if mine.epoch == other.epoch and other.end_offset <= mine.end_offset:
            return None
        return mine

    def truncation_point(self, diverging: EpochEnd) -> int:
        """Return the offset up to which this log can be kept, given the end of the epoch in the leader's log
        (KIP-595)."""
        mine = self.epoch_end(diverging.epoch)
        return min(mine.end_offset, diverging.end_offset) if mine.epoch == diverging.epoch else mine.end_offset


@dataclass(frozen=True, slots=True)
class Recovered:
    """The state that a node starts from: its good snapshots, ascending, and the shape of its log.

    `keeps_log` is False if the log on disk does not continue the newest snapshot, and has to begin anew behind it.
    """

    snapshots: tuple[EpochEnd, ...]
    shape: LogShape
    keeps_log: bool = True


def recover(
    epochs: Sequence[tuple[int, int]], start_offset: int, end_offset: int, snapshots: tuple[EpochEnd, ...]
) -> Recovered:
    """Put the snapshots and the log of one node together. Raises LogGap.

    The log lacks what a snapshot has, or contradicts it, if the machine failed before the log was durable, or while a
    fetched snapshot took the place of the log. A snapshot holds committed records only, so it wins.
    """
    if start_offset > (snapshots[-1].end_offset if snapshots else 0):
        reach = f"the newest good snapshot ends at {snapshots[-1].end_offset}" if snapshots else "no snapshot is good"
        raise LogGap(
            f"the metadata log begins at offset {start_offset}, and {reach}: the records before are lost here; "
            "empty the whole folder only if a majority of the other controllers is healthy"
        )
    whole = LogShape(epochs, end_offset)
    if not snapshots:
        return Recovered((), whole)
    newest = snapshots[-1]
    contradicts = start_offset < newest.end_offset and whole.divergence(newest) is not None
    if end_offset < newest.end_offset or contradicts:
        return Recovered((newest,), LogShape((), newest.end_offset, newest), keeps_log=False)
    kept = tuple(snapshot for snapshot in snapshots if snapshot.end_offset >= start_offset)
    return Recovered(kept, LogShape(epochs, end_offset, kept[0]) if start_offset else whole)
