"""The shape of a log: its end, and where each epoch begins. Elections and truncation need nothing else."""

from bisect import bisect_right
from collections.abc import Iterable

from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd


class LogShape:
    """Epochs with the offset at which each begins, ascending, and the end offset (exclusive)."""

    def __init__(self, epochs: Iterable[tuple[int, int]] = (), end_offset: int = 0) -> None:
        self._epochs = [epoch for epoch, _ in epochs]
        self._starts = [start for _, start in epochs]
        self.end_offset = end_offset

    @property
    def end(self) -> EpochEnd:
        """The last record's epoch (0 for an empty log) and the end offset, by which two logs are compared."""
        return EpochEnd(self._epochs[-1] if self._epochs else 0, self.end_offset)

    def append(self, epoch: int, next_offset: int) -> None:
        """Note that a batch of `epoch` was appended that ends at `next_offset`. Raises ValueError if it cannot
        follow."""
        last = self.end
        if epoch < last.epoch or next_offset <= last.end_offset:
            raise ValueError(f"a batch of epoch {epoch} that ends at {next_offset} cannot follow {last}")
        if not self._epochs or epoch > last.epoch:
            self._epochs.append(epoch)
            self._starts.append(last.end_offset)
        self.end_offset = next_offset

    def truncate(self, end_offset: int) -> None:
        """Note that all records from `end_offset` on were removed."""
        self.end_offset = min(self.end_offset, end_offset)
        while self._starts and self._starts[-1] >= self.end_offset:
            self._starts.pop()
            self._epochs.pop()

    def epoch_end(self, epoch: int) -> EpochEnd:
        """Return the largest epoch not above `epoch`, and its end offset. Epoch 0 ends at 0, before all records."""
        index = bisect_right(self._epochs, epoch)
        if index == 0:
            return EpochEnd(0, 0)
        end = self._starts[index] if index < len(self._starts) else self.end_offset
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
