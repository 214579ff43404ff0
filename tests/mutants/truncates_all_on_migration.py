"""A follower that cuts its whole log when the leader changes (KAFKA-2143; against HW-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import LogEpochEnd, Replica


def apply() -> None:
    honest = Replica.truncate

    def too_far(self: Replica, leader: LogEpochEnd) -> bool:
        complete = honest(self, leader)
        self._cut(self.log.log_start_offset)
        return complete

    Replica.truncate = too_far  # type: ignore[method-assign]
