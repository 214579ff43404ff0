"""The shape of a log: where it ends, and where in it each epoch begins. All that elections and truncation ask of it."""

from bisect import bisect_right
from collections.abc import Iterable

from cluster_impl.designs.quorum.raft.messages import EpochEnd


class LogShape:
    """Epochs with the offset at which each begins, ascending, and the end offset (exclusive)."""

    def __init__(self, epochs: Iterable[tuple[int, int]] = (), end_offset: int = 0) -> None:
        self._epochs = [epoch for epoch, _ in epochs]
        self._starts = [start for _, start in epochs]
        self.end_offset = end_offset

    @property
    def end(self) -> EpochEnd:
        """The last record's epoch (0 for an empty log) and the end offset: what two logs are compared by."""
        return EpochEnd(self._epochs[-1] if self._epochs else 0, self.end_offset)

    def append(self, epoch: int, next_offset: int) -> None:
        """A batch of `epoch` was appended and ends at `next_offset`."""
        last = self.end
        if epoch < last.epoch or next_offset <= last.end_offset:
            raise ValueError(f"a batch of epoch {epoch} that ends at {next_offset} cannot follow {last}")
        if not self._epochs or epoch > last.epoch:
            self._epochs.append(epoch)
            self._starts.append(last.end_offset)
        self.end_offset = next_offset

    def truncate(self, end_offset: int) -> None:
        """Everything from `end_offset` on was removed."""
        self.end_offset = min(self.end_offset, end_offset)
        while self._starts and self._starts[-1] >= self.end_offset:
            self._starts.pop()
            self._epochs.pop()

    def epoch_end(self, epoch: int) -> EpochEnd:
        """The largest epoch that is not above `epoch`, and where it ends. Epoch 0 ends at 0: before all records."""
        index = bisect_right(self._epochs, epoch)
        if index == 0:
            return EpochEnd(0, 0)
        end = self._starts[index] if index < len(self._starts) else self.end_offset
        return EpochEnd(self._epochs[index - 1], end)

    def divergence(self, other: EpochEnd) -> EpochEnd | None:
        """None if a log that ends with `other` is a prefix of this one; else where that epoch ends here (KIP-595)."""
        mine = self.epoch_end(other.epoch)
        if mine.epoch == other.epoch and other.end_offset <= mine.end_offset:
            return None
        return mine

    def truncation_point(self, diverging: EpochEnd) -> int:
        """How much of this log can be kept, given where the leader's log says that the epoch ends (KIP-595)."""
        mine = self.epoch_end(diverging.epoch)
        return min(mine.end_offset, diverging.end_offset) if mine.epoch == diverging.epoch else mine.end_offset
