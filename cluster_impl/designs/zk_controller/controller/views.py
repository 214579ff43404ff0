"""A read-only view of the context and of the brokers' states, for the decisions on requests of brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fencepost.cluster_impl.designs.zk_controller.controller.brokers.broker_states import BrokerStates
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext
from fencepost.cluster_impl.replication.control_plane import TopicPartition


@dataclass(frozen=True, slots=True)
class KnownPartition:
    leader: int
    leader_epoch: int
    isr: Sequence[int]
    replicas: Sequence[int]
    version: int


@dataclass(frozen=True, slots=True)
class ContextView:
    """Implements `IsrChangeView` and `ReplicaEventView`."""

    context: ControllerContext
    states: BrokerStates

    def incarnation(self, broker_id: int) -> int | None:
        return self.states.incarnation(broker_id)

    def broker_epoch(self, broker_id: int) -> int | None:
        """Return the latest epoch; a heartbeat may have brought a later one than the znode that was read."""
        return self.states.incarnation(broker_id)

    def is_live(self, broker_id: int) -> bool:
        return broker_id in self.context.live

    def is_stopping(self, broker_id: int) -> bool:
        return broker_id in self.context.stopping

    def partition(self, of: TopicPartition) -> KnownPartition | None:
        known = self.context.leadership.get(of)
        if known is None or of.topic in self.context.deletion_begun:
            return None
        return KnownPartition(known.leader, known.leader_epoch, known.isr, self.context.replicas(of), known.version)

    def assignment(self, topic: str) -> Mapping[int, Sequence[int]] | None:
        if topic in self.context.deletion_begun:
            return None
        partitions = self.context.assignments.get(topic)
        return None if partitions is None else {at: assigned.replicas for at, assigned in partitions.items()}

    def topics(self) -> Iterable[str]:
        return self.context.assignments
