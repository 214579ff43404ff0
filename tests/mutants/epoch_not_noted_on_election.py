"""A new leader that notes its epoch with its first record only (KAFKA-7415; against KIP-101, Leader Epoch)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.control_plane import PartitionAssignment
from fencepost.cluster_impl.replication.partition import RoleTransition
from fencepost.cluster_impl.replication.replica import Replica
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-7415",
    designs=WITH_CONTROLLER,
    rules=("HW-07", "HW-04"),
    scenarios=("terms-unheard", "fast-failover", "truncated-and-overwritten", "isolated-leader"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    honest = Replica.assign

    def forgetful(self: Replica, to: PartitionAssignment, now: float) -> RoleTransition:
        noted, self.log.epochs.assign = self.log.epochs.assign, _nothing  # type: ignore[method-assign]
        try:
            return honest(self, to, now)
        finally:
            self.log.epochs.assign = noted  # type: ignore[method-assign]

    Replica.assign = forgetful  # type: ignore[method-assign]


def _nothing(epoch: int, start_offset: int) -> None:
    return None
