"""A controller that sends a stopping broker no new leaders (KAFKA-7482; against INT-22)."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.cluster_impl.designs.zk_controller.controller.state.context import PartitionReplica
from fencepost.cluster_impl.designs.zk_controller.controller.state.request_batch import RequestBatch
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-7482",
    designs=(ZK,),
    rules=("INT-22",),
    scenarios=("controlled-shutdown-held-up", "controlled-shutdown-in-turn"),
    unit="tests/cluster_impl/designs/zk_controller/controller",
)


def apply() -> None:
    assign, stop = RequestBatch.leader_and_isr, RequestBatch.stop_replica

    def assign_others(
        self: RequestBatch, broker_ids: Iterable[int], partition: TopicPartition, *, is_new: bool = False
    ) -> None:
        others = [each for each in broker_ids if each not in self._context.stopping]
        assign(self, others, partition, is_new=is_new)

    def stop_others(self: RequestBatch, replica: PartitionReplica, *, delete: bool = False) -> None:
        if replica[1] not in self._context.stopping:
            stop(self, replica, delete=delete)

    RequestBatch.leader_and_isr = assign_others  # type: ignore[method-assign]
    RequestBatch.stop_replica = stop_others  # type: ignore[method-assign]
