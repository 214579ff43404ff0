"""A follower that serves clients whatever leader epoch they name (against DRACK-05)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import ANY_EPOCH, Partition
from fencepost.cluster_impl.wire.errors import Error


def apply() -> None:
    honest = Partition.check_reader

    def lenient(self: Partition, current_leader_epoch: int) -> Error:
        return honest(self, ANY_EPOCH)

    Partition.check_reader = lenient  # type: ignore[method-assign]
