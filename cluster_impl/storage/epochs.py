"""The leader epochs of a log and the offsets at which they start (KIP-101, KIP-279)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class EpochStart(NamedTuple):
    epoch: int
    start_offset: int


class LeaderEpochCache:
    """Epochs with the offset of their first record; both grow strictly.

    `changed` is called after each change of `entries`.
    """

    def __init__(self, log_end_offset: Callable[[], int], changed: Callable[[], None]) -> None:
        self.entries: list[EpochStart] = []
        self._log_end_offset = log_end_offset
        self.changed = changed

    @property
    def latest(self) -> int:
        """The newest epoch, -1 if there is none."""
        return self.entries[-1].epoch if self.entries else UNDEFINED_EPOCH

    def assign(self, epoch: int, start_offset: int) -> None:
        """Note that `epoch` begins at `start_offset`; an epoch that is the latest already keeps its start.

        Entries that contradict the new one, because they start at or after it or have a later epoch, are dropped:
        what they described is gone or was never written (KAFKA-10706).
        """
        if self.entries and self.entries[-1].epoch == epoch and self.entries[-1].start_offset <= start_offset:
            return
        self.entries = [entry for entry in self.entries if entry.epoch < epoch and entry.start_offset < start_offset]
        self.entries.append(EpochStart(epoch, start_offset))
        self.changed()

    def truncate_from_end(self, end_offset: int) -> None:
        """Drop epochs that would start at or after the end of the log."""
        if self.entries and self.entries[-1].start_offset >= end_offset:
            self.entries = [entry for entry in self.entries if entry.start_offset < end_offset]
            self.changed()

    def truncate_from_start(self, start_offset: int) -> None:
        """Drop epochs that end before the start of the log; the one at the start begins there."""
        first = max(bisect_right(self.entries, start_offset, key=lambda entry: entry.start_offset) - 1, 0)
        if self.entries and self.entries[first].start_offset < start_offset:
            self.entries = [EpochStart(self.entries[first].epoch, start_offset), *self.entries[first + 1 :]]
            self.changed()

    def clear(self) -> None:
        """Drop all epochs."""
        self.entries = []
        self.changed()

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """Return the largest epoch up to the given one, and where it ends: the answer of OffsetForLeaderEpoch.

        (-1, -1) if the log cannot know: the epoch is undefined or later than all of its own. For an epoch before
        the first one known it is that epoch itself and the start of the first.
        """
        if epoch == UNDEFINED_EPOCH:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if epoch == self.latest:
            return epoch, self._log_end_offset()
        following = bisect_right(self.entries, epoch, key=lambda entry: entry.epoch)
        if following == len(self.entries):
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        end_offset = self.entries[following].start_offset
        return (self.entries[following - 1].epoch if following else epoch), end_offset

    def epoch_at(self, offset: int) -> int:
        """Return the epoch of the record at `offset`; -1 in front of the first epoch."""
        following = bisect_right(self.entries, offset, key=lambda entry: entry.start_offset)
        return self.entries[following - 1].epoch if following else UNDEFINED_EPOCH


@dataclass(frozen=True, slots=True)
class TruncationPoint:
    """Cut to `offset`; unless `complete`, ask again with the epoch that is the latest then."""

    offset: int
    complete: bool


def truncation_point(
    leader_epoch: int, leader_end: int, local: LeaderEpochCache, log_end_offset: int
) -> TruncationPoint:
    """Return the cut for a leader whose greatest epoch <= ours is `leader_epoch`, which ends at `leader_end`.

    A follower that lacks the epoch of the answer shares nothing above the end of its greatest smaller epoch. The answer
    does not tell how much it shares below: each question rules out one epoch, so it has to ask again (KIP-279).
    """
    local_epoch, local_end = local.end_offset_for(leader_epoch)
    if local_epoch != leader_epoch:
        return TruncationPoint(min(local_end, log_end_offset), complete=False)
    return TruncationPoint(min(local_end, leader_end, log_end_offset), complete=True)
