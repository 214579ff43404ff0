"""A leader that acknowledges what its in-sync replicas lack (against replication design V2, commit thread)."""

from __future__ import annotations

from cluster_impl.replication.partition import Partition
from cluster_impl.replication.progress import Role
from cluster_impl.wire.errors import Error


def apply() -> None:
    honest = Partition.acknowledges

    def hasty(self: Partition, required_offset: int, tenure_epoch: int) -> Error | None:
        if self.role is Role.LEADER and self.tenure_epoch == tenure_epoch:
            return Error.NONE
        return honest(self, required_offset, tenure_epoch)

    Partition.acknowledges = hasty  # type: ignore[method-assign]
