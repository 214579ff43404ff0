"""A follower that cuts its whole log when the leader changes (KAFKA-2143; against replication design V2,
becomeFollower)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import Replica


def apply() -> None:
    honest = Replica._cut

    def too_far(self: Replica, offset: int) -> None:
        honest(self, offset if self.asks_leader else 0)

    Replica._cut = too_far  # type: ignore[method-assign]
