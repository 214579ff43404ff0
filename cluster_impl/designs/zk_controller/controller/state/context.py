"""The active controller's view of the cluster (Kafka Internals (2017), ControllerContext).

It is read once from ZooKeeper after the election, and changed only where the document lists it:

    registered, live        when the children of /brokers/ids change, and by heartbeats (KIP-343)
    topics, assignments     when topics or partitions are created or deleted, and by reassignment
    leadership              when a leader is initialised or elected, when the ISR changes
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from uuid import UUID

from fencepost.cluster_impl.designs.zk_controller.controller.state.transitions import PartitionState, ReplicaState
from fencepost.cluster_impl.designs.zk_controller.znodes import BrokerInfo, LeaderAndIsr, PartitionReplicas
from fencepost.cluster_impl.replication.control_plane import NO_LEADER, TopicPartition


@dataclass(frozen=True, slots=True)
class RegisteredBroker:
    """A znode below /brokers/ids. `epoch` is its czxid: broker epoch and incarnation id (KIP-343)."""

    broker_id: int
    epoch: int
    info: BrokerInfo


PartitionReplica = tuple[TopicPartition, int]
"""One replica: its partition and its broker."""

_WITHOUT_LEADER = (PartitionState.NEW, PartitionState.OFFLINE)


@dataclass(slots=True)
class ControllerContext:
    """The state of the cluster at the controller's `epoch`. Dictionaries to None are sets that keep their order."""

    epoch: int = 0
    registered: dict[int, RegisteredBroker] = field(default_factory=dict)
    live: dict[int, int] = field(default_factory=dict)
    """Broker id to broker epoch of the brokers that are active, stopping, or registered without heartbeats."""
    stopping: set[int] = field(default_factory=set)
    """Brokers in controlled shutdown. They are live until they end."""
    topic_ids: dict[str, UUID] = field(default_factory=dict)
    assignments: dict[str, dict[int, PartitionReplicas]] = field(default_factory=dict)
    leadership: dict[TopicPartition, LeaderAndIsr] = field(default_factory=dict)
    """Partitions that have not had a leader are missing."""
    partition_states: dict[TopicPartition, PartitionState] = field(default_factory=dict)
    replica_states: dict[PartitionReplica, ReplicaState] = field(default_factory=dict)
    failed_dirs: dict[int, set[TopicPartition]] = field(default_factory=dict)
    """By broker epoch, the replicas in failed log dirs. The entry stays until the broker has another epoch, also while
    it is not live."""
    to_delete: dict[str, None] = field(default_factory=dict)
    """Topics whose deletion was requested and is not complete."""
    deletion_begun: set[str] = field(default_factory=set)
    """Topics of `to_delete` that have left the metadata."""
    reassigned: dict[TopicPartition, None] = field(default_factory=dict)
    _by_broker: dict[int, dict[TopicPartition, None]] = field(default_factory=dict)
    _leaderless: dict[TopicPartition, None] = field(default_factory=dict)
    _topic_names: dict[UUID, str] = field(default_factory=dict)

    def add_topic(self, topic: str, topic_id: UUID) -> None:
        self.topic_ids[topic] = topic_id
        self._topic_names[topic_id] = topic
        self.assignments.setdefault(topic, {})

    def remove_topic(self, topic: str) -> None:
        for index in list(self.assignments.get(topic, ())):
            partition = TopicPartition(topic, index)
            for broker_id in self.replicas(partition):
                self._unassign(partition, broker_id)
            self.leadership.pop(partition, None)
            self.partition_states.pop(partition, None)
            self._leaderless.pop(partition, None)
            self.reassigned.pop(partition, None)
        self.assignments.pop(topic, None)
        self._topic_names.pop(self.topic_ids.pop(topic), None)
        self.to_delete.pop(topic, None)
        self.deletion_begun.discard(topic)

    def topic_name(self, topic_id: UUID) -> str | None:
        return self._topic_names.get(topic_id)

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        return [TopicPartition(topic, index) for index in self.assignments.get(topic, ())]

    def partitions(self) -> Iterable[TopicPartition]:
        return (TopicPartition(topic, index) for topic, indexes in self.assignments.items() for index in indexes)

    def assign(self, partition: TopicPartition, replicas: PartitionReplicas) -> None:
        """Set the replicas of a partition. The states of removed replicas are dropped."""
        of_topic = self.assignments[partition.topic]
        before = of_topic.get(partition.partition)
        of_topic[partition.partition] = replicas
        for broker_id in replicas.replicas:
            self._by_broker.setdefault(broker_id, {})[partition] = None
        for broker_id in before.replicas if before else ():
            if broker_id not in replicas.replicas:
                self._unassign(partition, broker_id)

    def assignment(self, partition: TopicPartition) -> PartitionReplicas | None:
        return self.assignments.get(partition.topic, {}).get(partition.partition)

    def replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        """Return the assigned brokers, none for a partition that does not exist."""
        known = self.assignment(partition)
        return known.replicas if known else ()

    def on_broker(self, broker_id: int) -> Collection[TopicPartition]:
        """Return the partitions of which this broker has a replica."""
        return self._by_broker.get(broker_id, {}).keys()

    def is_online(self, broker_id: int, partition: TopicPartition) -> bool:
        """Return whether the broker is live and its replica of this partition is not in a failed log dir."""
        epoch = self.live.get(broker_id)
        if epoch is None:
            return False
        failed = self.failed_dirs.get(epoch)
        return not failed or partition not in failed

    def online_replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        return tuple(replica for replica in self.replicas(partition) if self.is_online(replica, partition))

    def offline_replicas(self, partition: TopicPartition) -> list[int]:
        return [replica for replica in self.replicas(partition) if not self.is_online(replica, partition)]

    def leader(self, partition: TopicPartition) -> int:
        known = self.leadership.get(partition)
        return known.leader if known else NO_LEADER

    def partition_state(self, partition: TopicPartition) -> PartitionState:
        return self.partition_states.get(partition, PartitionState.NON_EXISTENT)

    def put_partition_state(self, partition: TopicPartition, state: PartitionState) -> None:
        if state in _WITHOUT_LEADER:
            self._leaderless[partition] = None
        else:
            self._leaderless.pop(partition, None)
        self.partition_states[partition] = state

    def leaderless(self) -> list[TopicPartition]:
        """Return the new and offline partitions whose topic is not being deleted."""
        return [partition for partition in self._leaderless if partition.topic not in self.deletion_begun]

    def replica_state(self, partition: TopicPartition, broker_id: int) -> ReplicaState:
        return self.replica_states.get((partition, broker_id), ReplicaState.NON_EXISTENT)

    def replicas_of_topic(self, topic: str) -> list[PartitionReplica]:
        return [
            (partition, broker_id) for partition in self.partitions_of(topic) for broker_id in self.replicas(partition)
        ]

    def _unassign(self, partition: TopicPartition, broker_id: int) -> None:
        self._by_broker.get(broker_id, {}).pop(partition, None)
        self.replica_states.pop((partition, broker_id), None)
        if broker_id in self.registered:
            self.failed_dirs.get(self.registered[broker_id].epoch, set()).discard(partition)
