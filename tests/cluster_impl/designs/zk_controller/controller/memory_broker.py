"""A broker without sockets and logs: believes what controllers tell it, as the guards of a real one would."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from fencepost.cluster_impl.designs.zk_controller.control_requests import FULL, LEADER_DURING_DELETE
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error

LeaderAndIsrState = m.LeaderAndIsrRequest.LeaderAndIsrPartitionState
MetadataState = m.UpdateMetadataRequest.UpdateMetadataPartitionState


@dataclass(slots=True)
class Disk:
    """The data that outlives a process: the folders of replicas, each with its topic's id."""

    folders: dict[TopicPartition, UUID] = field(default_factory=dict)


@dataclass(slots=True)
class MemoryBroker:
    """One process. `failed` are the replicas of log dirs that failed."""

    broker_id: int
    epoch: int
    disk: Disk
    controller_epoch: int = 0
    replicas: dict[TopicPartition, LeaderAndIsrState] = field(default_factory=dict)
    metadata: dict[TopicPartition, MetadataState] = field(default_factory=dict)
    live_brokers: dict[int, int] = field(default_factory=dict)
    failed: set[TopicPartition] = field(default_factory=set)

    def answer(self, request: Message) -> Message:
        match request:
            case m.LeaderAndIsrRequest():
                return self._leader_and_isr(request)
            case m.StopReplicaRequest():
                return self._stop_replica(request)
            case m.UpdateMetadataRequest():
                return self._update_metadata(request)
        raise AssertionError(f"no controller sends {request}")

    def leads(self, partition: TopicPartition) -> bool:
        held = self.replicas.get(partition)
        return held is not None and held.leader == self.broker_id

    def _refusal(self, request: m.LeaderAndIsrRequest | m.StopReplicaRequest | m.UpdateMetadataRequest) -> Error:
        assert request.broker_epoch == self.epoch, "it was meant for another process"
        if request.controller_epoch < self.controller_epoch:
            return Error.STALE_CONTROLLER_EPOCH
        self.controller_epoch = request.controller_epoch
        return Error.NONE

    def _leader_and_isr(self, request: m.LeaderAndIsrRequest) -> Message:
        if error := self._refusal(request):
            return m.LeaderAndIsrResponse(error_code=error)
        if request.type == FULL:
            self._remove_strays(request)
        answers = []
        for topic in request.topic_states:
            errors = []
            for state in topic.partition_states:
                partition = TopicPartition(topic.topic_name, state.partition_index)
                error = self._adopt(partition, topic.topic_id, state)
                errors.append(
                    m.LeaderAndIsrResponse.LeaderAndIsrPartitionError(
                        partition_index=state.partition_index, error_code=error
                    )
                )
            answers.append(
                m.LeaderAndIsrResponse.LeaderAndIsrTopicError(topic_id=topic.topic_id, partition_errors=errors)
            )
        return m.LeaderAndIsrResponse(topics=answers)

    def _remove_strays(self, request: m.LeaderAndIsrRequest) -> None:
        named = {
            TopicPartition(topic.topic_name, state.partition_index)
            for topic in request.topic_states
            for state in topic.partition_states
        }
        self.disk.folders = {each: topic_id for each, topic_id in self.disk.folders.items() if each in named}

    def _adopt(self, partition: TopicPartition, topic_id: UUID, state: LeaderAndIsrState) -> Error:
        assert self.broker_id in state.replicas, f"broker {self.broker_id} is no replica of {partition}"
        assert state.leader == -1 or state.leader in state.isr, f"{partition} is led from outside its ISR"
        known = self.replicas.get(partition)
        if partition in self.failed:
            return Error.KAFKA_STORAGE_ERROR
        if known is not None and self.disk.folders.get(partition) == topic_id:
            assert state.leader_epoch >= known.leader_epoch, f"the leader epoch of {partition} went back"
        self.disk.folders[partition] = topic_id
        self.replicas[partition] = state
        return Error.NONE

    def _stop_replica(self, request: m.StopReplicaRequest) -> Message:
        if error := self._refusal(request):
            return m.StopReplicaResponse(error_code=error)
        errors = []
        for topic in request.topic_states:
            for state in topic.partition_states:
                partition = TopicPartition(topic.topic_name, state.partition_index)
                self.replicas.pop(partition, None)
                failed = partition in self.failed
                if state.delete_partition and not failed:
                    self.disk.folders.pop(partition, None)
                errors.append(
                    m.StopReplicaResponse.StopReplicaPartitionError(
                        topic_name=topic.topic_name,
                        partition_index=state.partition_index,
                        error_code=Error.KAFKA_STORAGE_ERROR if failed else Error.NONE,
                    )
                )
        return m.StopReplicaResponse(partition_errors=errors)

    def _update_metadata(self, request: m.UpdateMetadataRequest) -> Message:
        if error := self._refusal(request):
            return m.UpdateMetadataResponse(error_code=error)
        if request.type == FULL:
            self.metadata.clear()
        for topic in request.topic_states:
            for state in topic.partition_states:
                partition = TopicPartition(topic.topic_name, state.partition_index)
                if state.leader == LEADER_DURING_DELETE:
                    self.metadata.pop(partition, None)
                else:
                    self.metadata[partition] = state
        self.live_brokers = {each.id: each.broker_epoch for each in request.live_brokers}
        return m.UpdateMetadataResponse()
