"""An active controller without Raft: each operation runs, and its records are replayed as if appended at once."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.alter_isr import alter_isr
from fencepost.cluster_impl.designs.quorum.controller.leases import Leases
from fencepost.cluster_impl.designs.quorum.controller.reassignment import alter_reassignments, complete_reassignments
from fencepost.cluster_impl.designs.quorum.controller.snapshot_schedule import SnapshotSchedule
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState, Reply
from fencepost.cluster_impl.designs.quorum.controller.topics import complete_deletions, create_topics, delete_topics
from fencepost.cluster_impl.designs.quorum.features import Levels
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import MetadataImage, MetadataRecord, PartitionRegistration
from fencepost.cluster_impl.wire import messages as m

LEASE = 10.0
LEASE_START_MS = 5_000_000
FAR = 1 << 40
"""A metadata offset ahead of everything: a broker that has caught up."""


class Model:
    """Controllers 1 to 3, lease LEASE seconds, the time in `now`."""

    def __init__(self) -> None:
        self.now = 100.0
        self.state = ControllerState(
            1, frozenset({1, 2, 3}), MetadataImage(), Leases(LEASE), SnapshotSchedule(100, 5.0, 0.0), 0, -1
        )
        self.log: list[MetadataRecord] = []
        self._topics = 0
        self.features: dict[str, Levels] = {}
        """The levels that the brokers of `heartbeat` report."""

    @property
    def image(self) -> MetadataImage:
        return self.state.image

    def append(self, records: Sequence[MetadataRecord]) -> None:
        for record in records:
            self.state.image.replay(record, self.state.end_offset)
            self.state.stable_offset = self.state.end_offset
            self.state.end_offset += 1
            self.log.append(record)

    def run(self, outcome: ControllerResult[Reply]) -> Reply:
        self.append(outcome.records)
        self.append(complete_reassignments(self.state, self.now))
        return outcome.reply

    def heartbeat(
        self,
        broker: int,
        target: FenceState | int,
        epoch: int = -1,
        reached: int = FAR,
        host: str = "node",
        lease_start_ms: int = LEASE_START_MS,
    ) -> m.BrokerHeartbeatResponse:
        """Send one heartbeat now; leases that are over are ended first."""
        self.end_leases()
        request = m.BrokerHeartbeatRequest(
            target_state=target,
            broker_id=broker,
            broker_epoch=epoch,
            lease_start_time_ms=lease_start_ms,
            cur_metadata_offset=reached,
            features=[
                m.BrokerHeartbeatRequest.SupportedFeature(name=name, min_version=has.lowest, max_version=has.highest)
                for name, has in self.features.items()
            ],
            listeners=[m.BrokerHeartbeatRequest.Listener(name="INTERNAL", host=f"{host}-{broker}", port=9090)],
        )
        return self.run(heartbeats.heartbeat(self.state, request, self.now))

    def end_leases(self) -> None:
        for broker in self.state.leases.over(self.now):
            self.append(heartbeats.end_lease(self.state, broker, self.now))

    def join(self, *brokers: int) -> None:
        """Let brokers register, catch up and become active."""
        for broker in brokers:
            epoch = self.heartbeat(broker, FenceState.INITIAL).broker_epoch
            assert self.heartbeat(broker, FenceState.ACTIVE, epoch).next_state == FenceState.ACTIVE

    def leave(self, broker: int) -> None:
        """Let a broker shut down: its leaderships move, then it gives its id back."""
        epoch = self.epoch(broker)
        while broker in self.image.brokers:
            self.heartbeat(broker, FenceState.SHUTDOWN, epoch)

    def epoch(self, broker: int) -> int:
        return self.image.brokers[broker].epoch

    def create(self, topic: m.CreateTopicsRequest.CreatableTopic, validate_only: bool = False) -> int:
        """Create a topic; return its error code."""
        self._topics += 1
        request = m.CreateTopicsRequest(topics=[topic], validate_only=validate_only)
        defaults = TopicDefaults(partitions=1, replication_factor=1)
        reply = self.run(create_topics(self.state, request, self.now, defaults, lambda: UUID(int=self._topics)))
        return reply.topics[0].error_code

    def topic(self, name: str, *replicas: int) -> PartitionRegistration:
        """Create a topic with one partition on these brokers."""
        assignment = m.CreateTopicsRequest.CreatableReplicaAssignment(partition_index=0, broker_ids=list(replicas))
        topic = m.CreateTopicsRequest.CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=[assignment]
        )
        assert self.create(topic) == 0
        return self.partition(name)

    def delete(self, name: str) -> None:
        reply = self.run(delete_topics(self.state, m.DeleteTopicsRequest(topic_names=[name]), version=5))
        assert reply.responses[0].error_code == 0
        self.complete_deletions()

    def complete_deletions(self) -> None:
        self.append(complete_deletions(self.state, self.image))

    def partition(self, name: str) -> PartitionRegistration:
        partition = self.image.partition(name, 0)
        assert partition is not None
        return partition

    def alter_isr(
        self, broker: int, epoch: int, topic: str, leader_epoch: int, isr: list[int], version: int
    ) -> m.AlterIsrResponse:
        partition = m.AlterIsrRequest.PartitionData(
            partition_index=0, leader_epoch=leader_epoch, new_isr=isr, current_isr_version=version
        )
        topics = [m.AlterIsrRequest.TopicData(name=topic, partitions=[partition])]
        request = m.AlterIsrRequest(broker_id=broker, broker_epoch=epoch, topics=topics)
        return self.run(alter_isr(self.state, request, self.now))

    def reassign(self, topic: str, replicas: list[int] | None, *, same_factor: bool = False) -> int:
        """Begin, change or cancel the reassignment of partition 0; return its error code."""
        request = m.AlterPartitionReassignmentsRequest(
            allow_replication_factor_change=not same_factor,
            topics=[
                m.AlterPartitionReassignmentsRequest.ReassignableTopic(
                    name=topic,
                    partitions=[
                        m.AlterPartitionReassignmentsRequest.ReassignablePartition(partition_index=0, replicas=replicas)
                    ],
                )
            ],
        )
        return self.run(alter_reassignments(self.state, request, self.now)).responses[0].partitions[0].error_code

    def joins_isr(self, topic: str, *brokers: int) -> None:
        """Let the leader add brokers to the ISR of partition 0."""
        partition = self.partition(topic)
        reply = self.alter_isr(
            partition.leader,
            self.epoch(partition.leader),
            topic,
            partition.leader_epoch,
            [*partition.isr, *brokers],
            partition.leader_epoch,
        )
        assert reply.topics[0].partitions[0].error_code == 0
