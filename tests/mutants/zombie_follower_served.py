"""A leader that serves followers of an earlier epoch (KAFKA-6880; against decision D631-21)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import ANY_EPOCH, Partition
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-6880",
    designs=WITH_CONTROLLER,
    rules=("D631-21", "HW-07", "HW-03"),
    scenarios=("fast-failover", "stale-requests", "foreign-fetches", "isolated-leader"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    honest = Partition.check_leader

    def careless(self: Partition, current_leader_epoch: int) -> Error:
        is_old = current_leader_epoch < self.leader_epoch
        return honest(self, ANY_EPOCH if is_old else current_leader_epoch)

    Partition.check_leader = careless  # type: ignore[method-assign]
