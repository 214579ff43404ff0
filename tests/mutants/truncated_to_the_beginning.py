"""A follower that cuts its whole log when the leader changes (KAFKA-2143; against replication design V2,
becomeFollower)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import Replica
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-2143",
    designs=(LEADER_DRIVEN,),
    rules=("DIR-05",),
    scenarios=("stopped-follower", "truncated-and-elected"),
    unit=(
        "tests/cluster_impl/replication/test_rules.py::"
        "test_a_follower_cuts_its_log_to_its_own_high_watermark_and_asks_no_leader"
    ),
)


def apply() -> None:
    honest = Replica._cut

    def too_far(self: Replica, offset: int) -> None:
        honest(self, offset if self.asks_leader else 0)

    Replica._cut = too_far  # type: ignore[method-assign]
