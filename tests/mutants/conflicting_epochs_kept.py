"""A log that keeps the epochs which a new one contradicts (KAFKA-10706; against KIP-101, Leader Epoch)."""

from __future__ import annotations

from fencepost.cluster_impl.storage.epochs import EpochStart, LeaderEpochCache
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-10706",
    designs=WITH_CONTROLLER,
    rules=("HW-04",),
    scenarios=("terms-unheard", "fast-failover", "isolated-leader", "truncated-and-overwritten"),
    unit="tests/cluster_impl/storage/test_epochs.py",
)


def apply() -> None:
    LeaderEpochCache.assign = _append  # type: ignore[method-assign]
    LeaderEpochCache.truncate_from_end = _keep  # type: ignore[method-assign]


def _append(self: LeaderEpochCache, epoch: int, start_offset: int) -> None:
    if self.entries and self.entries[-1].epoch == epoch:
        return
    self.entries = [*self.entries, EpochStart(epoch, start_offset)]
    self.changed()


def _keep(self: LeaderEpochCache, end_offset: int) -> None:
    return None
