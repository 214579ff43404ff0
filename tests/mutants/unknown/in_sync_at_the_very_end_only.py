"""A leader that counts a follower as caught up only if its fetch reaches the very end of the log (against KIP-16).

Under steady writes there is always one record more: followers that keep up leave the ISR after the lag limit.
"""

from __future__ import annotations

from fencepost.cluster_impl.replication.follower import FollowerProgress
from tests.mutants.defect import QUORUM, ZK, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM, ZK),
    rules=("ISR-05",),
    scenarios=(),
    unit="tests/mutants/unknown/test_timing.py::test_a_follower_that_keeps_up_with_steady_writes_is_in_sync",
    kind=Kind.TIMING,
)


def apply() -> None:
    honest = FollowerProgress.fetched

    def fetched(self: FollowerProgress, offset: int, broker_epoch: int, leader_end: int, now: float) -> None:
        caught_up = now if offset >= leader_end else self.last_caught_up
        honest(self, offset, broker_epoch, leader_end, now)
        self.last_caught_up = caught_up

    FollowerProgress.fetched = fetched  # type: ignore[method-assign]
