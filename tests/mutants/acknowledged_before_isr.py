"""A leader that acknowledges records that its in-sync replicas lack (against replication design V2, commit thread)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.wire.errors import Error


def apply() -> None:
    honest = Partition.acknowledges

    def hasty(self: Partition, required_offset: int, led_since: int) -> Error | None:
        if self.role is ReplicaRole.LEADER and self.led_since == led_since:
            return Error.NONE
        return honest(self, required_offset, led_since)

    Partition.acknowledges = hasty  # type: ignore[method-assign]
