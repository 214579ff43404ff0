"""A controller that tells a stopping broker of partitions which it does not lead (KAFKA-999; against INT-22)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.controller.brokers.controlled_shutdown import ControlledShutdown
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-999",
    designs=(ZK,),
    rules=("DINT-24", "DINT-25"),
    scenarios=("controlled-shutdown-in-turn",),
    unit="tests/cluster_impl/designs/zk_controller/controller",
)


def apply() -> None:
    ControlledShutdown._led_by = _held_by  # type: ignore[method-assign]


def _held_by(self: ControlledShutdown, broker_id: int) -> list[TopicPartition]:
    return [each for each in self._context.on_broker(broker_id) if self._counts(each)]
