"""A controller that removes the last members of an ISR (KAFKA-708; against ISR-07)."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.zk_controller.controller.state import replica_state_machine
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext
from fencepost.cluster_impl.designs.zk_controller.controller.state.leadership import Decide
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from fencepost.cluster_impl.replication.control_plane import NO_LEADER, TopicPartition
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-708",
    designs=(ZK,),
    rules=("ISR-03", "ACK-01"),
    scenarios=("outside-the-isr", "everything-killed", "brokers-killed-in-turn"),
    unit="tests/cluster_impl/designs/zk_controller/controller",
)


def apply() -> None:
    honest = replica_state_machine.change_states  # type: ignore[attr-defined]

    def change(
        context: ControllerContext, partitions: Iterable[TopicPartition], decide: Decide
    ) -> Steps[list[TopicPartition]]:
        def emptied(partition: TopicPartition, known: LeaderAndIsr) -> LeaderAndIsr | None:
            new = decide(partition, known)
            if new is not None and new.leader == NO_LEADER:
                return LeaderAndIsr(new.leader, new.leader_epoch, (), new.controller_epoch)
            return new

        changed: list[TopicPartition] = yield from honest(context, partitions, emptied)
        return changed

    replica_state_machine.change_states = change  # type: ignore[attr-defined]
