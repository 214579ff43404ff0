"""A follower that cuts its whole log when the leader changes (KAFKA-2143; against HW-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import LogEpochEnd, Replica
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-2143",
    designs=WITH_CONTROLLER,
    rules=("HW-04", "ACK-01"),
    scenarios=("successor-dies-after-an-answer", "truncated-and-elected", "rolling-restart", "brokers-killed-in-turn"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    honest = Replica.truncate

    def too_far(self: Replica, leader: LogEpochEnd) -> bool:
        complete = honest(self, leader)
        self._cut(self.log.log_start_offset)
        return complete

    Replica.truncate = too_far  # type: ignore[method-assign]
