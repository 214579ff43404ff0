"""A former controller whose writes are not guarded (KAFKA-6082; against DINT-04)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination import znodes as zk
from fencepost.cluster_impl.coordination.execution import Execution
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.term import GuardedExecution
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-6082",
    designs=(ZK,),
    rules=("DINT-04",),
    scenarios=("controller-replaced-unheard", "controller-paused", "old-controller"),
    unit="tests/cluster_impl/designs/zk_controller",
)


def apply() -> None:
    def unguarded(self: GuardedExecution, zookeeper: ZooKeeper, epoch_version: int, watch: zk.Watch) -> None:
        Execution.__init__(self, zookeeper, watch)

    GuardedExecution.__init__ = unguarded  # type: ignore[method-assign]
