"""A broker that takes an older state of a partition for a new one (KAFKA-1188; against DINT-05)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.broker import controller_requests
from fencepost.cluster_impl.replication.control_plane import PartitionAssignment
from fencepost.cluster_impl.replication.partition import Partition, RoleTransition
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-1188",
    designs=(ZK,),
    rules=("DINT-05", "ISR-01"),
    scenarios=("stale-commands", "two-leaders"),
    unit="tests/cluster_impl/designs/zk_controller/broker",
)


def apply() -> None:
    kept = tuple(
        guard
        for guard in controller_requests.ASSIGNMENT_GUARDS  # type: ignore[attr-defined]
        if guard.error is not Error.STALE_CONTROLLER_EPOCH
    )
    controller_requests.ASSIGNMENT_GUARDS = kept  # type: ignore[attr-defined, assignment]
    honest = Partition.assign

    def trusting(self: Partition, to: PartitionAssignment, **rest: float) -> RoleTransition:
        if (to.leader_epoch, to.version) < (self.isr.leader_epoch, self.isr.version):
            self.isr.leader_epoch = self.isr.version = -1
        return honest(self, to, **rest)  # type: ignore[arg-type]

    Partition.assign = trusting  # type: ignore[method-assign]
