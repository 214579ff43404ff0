"""What the controller orders: LeaderAndIsr, StopReplica, UpdateMetadata. Each is idempotent (003).

What is refused is decided by the guards; what is not goes to the data plane, and to the metadata that clients see.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Protocol
from uuid import UUID

from cluster_impl.api.serving import body_of
from cluster_impl.designs.zk_controller.broker.guards import (
    ASSIGNMENT_GUARDS,
    NO_LEADER_EPOCH,
    STOP_GUARDS,
    Assigned,
    ControlRequest,
    Standing,
    Stopped,
    Told,
    first_refusal,
    refusal_of,
)
from cluster_impl.designs.zk_controller.broker.metadata import FULL, NO_TOPIC_ID, MetadataCache
from cluster_impl.designs.zk_controller.superseded import SupersededConnections
from cluster_impl.replication.control_plane import (
    NO_EPOCH,
    NO_LEADER,
    Change,
    DataPlane,
    PartitionAssignment,
    PartitionRemoved,
    ReplicaStopped,
    TopicPartition,
)
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error
from cluster_impl.wire.server import CloseConnection, Handler, Request

log = logging.getLogger(__name__)

PIECE = 100
"""How many partitions are assigned before the event loop has its turn."""

_TOPIC_IDS_FROM = 5
PartitionState = m.LeaderAndIsrRequest.LeaderAndIsrPartitionState
PartitionError = m.LeaderAndIsrResponse.LeaderAndIsrPartitionError


class OwnRegistration(Protocol):
    """What is asked here about this broker's znode."""

    @property
    def epoch(self) -> int: ...

    async def settled(self) -> None:
        """Return when no registration is under way, whose epoch the controller may know before this broker does."""
        ...


class Settings(Protocol):
    """Topics' own settings."""

    def get(self, topic_id: UUID) -> Mapping[str, str] | None: ...

    def want(self, name: str, topic_id: UUID) -> None: ...

    async def load(self, name: str, topic_id: UUID) -> None: ...


class ControllerOrders:
    """`handlers` by API key, for the INTERNAL listener."""

    def __init__(self, broker_id: int, registration: OwnRegistration, settings: Settings, cache: MetadataCache) -> None:
        self.controller_epoch = 0
        """The newest that this process has heard from."""
        self.informed_at = NO_EPOCH
        """The own broker epoch at which metadata arrived last."""
        self._broker_id = broker_id
        self._registration = registration
        self._settings = settings
        self._cache = cache
        self._told: dict[TopicPartition, Told] = {}
        self._one_at_a_time = asyncio.Lock()
        self._superseded = SupersededConnections()
        self._data_plane: DataPlane | None = None
        self.handlers: Mapping[int, Handler] = {
            m.LeaderAndIsrRequest.API_KEY: self._handle_leader_and_isr,
            m.StopReplicaRequest.API_KEY: self._handle_stop_replica,
            m.UpdateMetadataRequest.API_KEY: self._handle_update_metadata,
        }

    def attach(self, data_plane: DataPlane) -> None:
        """Name whom to tell; before the first request."""
        self._data_plane = data_plane

    def told(self, partition: TopicPartition) -> Told | None:
        """What was said last of a partition that this broker holds."""
        return self._told.get(partition)

    @property
    def _standing(self) -> Standing:
        return Standing(self._broker_id, self._registration.epoch, self.controller_epoch)

    def _refusal(self, request: ControlRequest) -> Error:
        standing = self._standing
        error = refusal_of(request, standing)
        if error:
            log.warning(
                "refused %s of controller %d at epoch %d for broker epoch %d: %s (known are %d and %d)",
                type(request).__name__.removesuffix("Request"),
                request.controller_id,
                request.controller_epoch,
                request.broker_epoch,
                error.name,
                standing.controller_epoch,
                standing.broker_epoch,
            )
        else:
            self.controller_epoch = request.controller_epoch
        return error

    async def _admit(self, request: ControlRequest, connection: int) -> None:
        """An epoch above the own one may be the own one, if its znode is only just being written.

        Raises CloseConnection for a late copy: the topic that it speaks of may have been made anew since. What is
        refused anyway says nothing about who asks.
        """
        if request.broker_epoch > self._registration.epoch:
            await self._registration.settled()
        sender = request.controller_id, request.controller_epoch
        if not refusal_of(request, self._standing) and self._superseded.is_superseded(sender, connection):
            name = type(request).__name__.removesuffix("Request")
            raise CloseConnection(f"{name} came that the controller has repeated by a newer connection since")

    # LeaderAndIsr

    async def _handle_leader_and_isr(self, request: Request) -> Message:
        body = body_of(request, m.LeaderAndIsrRequest)
        await self._admit(body, request.connection.number)
        if not refusal_of(body, self._standing):
            topics = {(name, topic_id) for name, topic_id, _ in assigned(body) if self._settings.get(topic_id) is None}
            await asyncio.gather(*(self._settings.load(name, topic_id) for name, topic_id in topics))
        return await self.leader_and_isr(body, request.version)

    async def leader_and_isr(self, body: m.LeaderAndIsrRequest, version: int) -> m.LeaderAndIsrResponse:
        """Lead or follow what is not refused; the topics' settings are known.

        Thousands of replicas take seconds to open, so the loop has its turn between pieces; other requests of
        controllers wait.
        """
        asked = list(assigned(body))
        async with self._one_at_a_time:
            refused = self._refusal(body)
            if refused:
                return _assignment_answer(refused, [(*each, refused) for each in asked], version)
            if body.type == FULL:
                self._stop_all_but(asked)
            errors: dict[TopicPartition, Error] = {}
            for start in range(0, len(asked), PIECE):
                if start:
                    await asyncio.sleep(0)
                errors |= self._assign(asked[start : start + PIECE])
        results = [
            (name, topic_id, state, errors.get(TopicPartition(name, state.partition_index), Error.NONE))
            for name, topic_id, state in asked
        ]
        return _assignment_answer(Error.NONE, results, version)

    def _stop_all_but(self, asked: Iterable[tuple[str, UUID, PartitionState]]) -> None:
        """What a request that names every replica of this broker does not name was taken away while nobody told it.

        The folders stay: where they are to go as well StopReplica says so.
        """
        named = {TopicPartition(name, state.partition_index) for name, _, state in asked}
        gone = {partition: told for partition, told in self._told.items() if partition not in named}
        for partition in gone:
            del self._told[partition]
        assert self._data_plane is not None
        self._data_plane.apply(
            [
                ReplicaStopped(topic=partition.topic, topic_id=told.topic_id, partition=partition.partition)
                for partition, told in gone.items()
            ]
        )

    def _assign(self, piece: Iterable[tuple[str, UUID, PartitionState]]) -> dict[TopicPartition, Error]:
        errors: dict[TopicPartition, Error] = {}
        changes: list[Change] = []
        for name, topic_id, state in piece:
            partition = TopicPartition(name, state.partition_index)
            asked = Assigned(topic_id, state, self._broker_id, self._told.get(partition))
            error = first_refusal(ASSIGNMENT_GUARDS, asked)
            if error:
                log.info("%s: passed over leader epoch %d: %s", partition, state.leader_epoch, error.name)
                errors[partition] = error
                continue
            self._told[partition] = Told(topic_id, state.leader_epoch, state.controller_epoch)
            changes.append(self._assignment(name, topic_id, state))
        assert self._data_plane is not None
        return errors | dict(self._data_plane.apply(changes))

    def _assignment(self, name: str, topic_id: UUID, state: PartitionState) -> PartitionAssignment:
        return PartitionAssignment(
            topic=name,
            topic_id=topic_id,
            partition=state.partition_index,
            replicas=tuple(state.replicas),
            isr=tuple(state.isr),
            leader=max(state.leader, NO_LEADER),
            leader_epoch=state.leader_epoch,
            tenure_epoch=state.leader_epoch,
            version=state.partition_epoch,
            config=self._settings.get(topic_id) or {},
            is_new=state.is_new,
        )

    # StopReplica

    async def _handle_stop_replica(self, request: Request) -> Message:
        body = body_of(request, m.StopReplicaRequest)
        await self._admit(body, request.connection.number)
        async with self._one_at_a_time:
            return self.stop_replica(body)

    def stop_replica(self, body: m.StopReplicaRequest) -> m.StopReplicaResponse:
        """Stop what is not refused, and delete it where that is asked for."""
        refused = self._refusal(body)
        errors: dict[TopicPartition, Error] = {}
        changes: list[Change] = []
        for partition, leader_epoch, delete in stopped(body):
            told = self._told.get(partition)
            error = refused or first_refusal(STOP_GUARDS, Stopped(leader_epoch, told))
            errors[partition] = error
            if error:
                continue
            topic_id = told.topic_id if told is not None else None
            if delete:
                self._told.pop(partition, None)
                changes.append(
                    PartitionRemoved(topic=partition.topic, topic_id=topic_id, partition=partition.partition)
                )
            else:
                changes.append(ReplicaStopped(topic=partition.topic, topic_id=topic_id, partition=partition.partition))
        if changes:
            assert self._data_plane is not None
            errors |= self._data_plane.apply(changes)
        return m.StopReplicaResponse(
            error_code=refused,
            partition_errors=[
                m.StopReplicaResponse.StopReplicaPartitionError(
                    topic_name=partition.topic, partition_index=partition.partition, error_code=error
                )
                for partition, error in errors.items()
            ],
        )

    # UpdateMetadata

    async def _handle_update_metadata(self, request: Request) -> Message:
        body = body_of(request, m.UpdateMetadataRequest)
        await self._admit(body, request.connection.number)
        async with self._one_at_a_time:
            return self.update_metadata(body)

    def update_metadata(self, body: m.UpdateMetadataRequest) -> m.UpdateMetadataResponse:
        """Adopt what the controller knows of brokers and partitions."""
        refused = self._refusal(body)
        if not refused:
            self.informed_at = body.broker_epoch
            for topic in self._cache.update(body):
                self._settings.want(topic.name, topic.topic_id)
        return m.UpdateMetadataResponse(error_code=refused)


def assigned(body: m.LeaderAndIsrRequest) -> Iterable[tuple[str, UUID, PartitionState]]:
    """Topic, its id, and state, of each partition; before version 2 they were not grouped by topic."""
    for state in body.ungrouped_partition_states:
        yield state.topic_name, NO_TOPIC_ID, state
    for topic in body.topic_states:
        for state in topic.partition_states:
            yield topic.topic_name, topic.topic_id, state


def stopped(body: m.StopReplicaRequest) -> Iterable[tuple[TopicPartition, int, bool]]:
    """Partition, leader epoch, and whether to delete it; leader epochs came with version 3."""
    for one in body.ungrouped_partitions:
        yield TopicPartition(one.topic_name, one.partition_index), NO_LEADER_EPOCH, body.delete_partitions
    for topic in body.topics:
        for index in topic.partition_indexes:
            yield TopicPartition(topic.name, index), NO_LEADER_EPOCH, body.delete_partitions
    for states in body.topic_states:
        for state in states.partition_states:
            partition = TopicPartition(states.topic_name, state.partition_index)
            yield partition, state.leader_epoch, state.delete_partition


def _assignment_answer(
    error: Error, results: Iterable[tuple[str, UUID, PartitionState, Error]], version: int
) -> m.LeaderAndIsrResponse:
    """Since version 5 topics are named by their ids."""
    response = m.LeaderAndIsrResponse(error_code=error)
    topics: dict[UUID, list[PartitionError]] = {}
    for name, topic_id, state, result in results:
        answer = PartitionError(topic_name=name, partition_index=state.partition_index, error_code=result)
        topics.setdefault(topic_id, []).append(answer)
    if version < _TOPIC_IDS_FROM:
        response.partition_errors = [answer for answers in topics.values() for answer in answers]
    else:
        response.topics = [
            m.LeaderAndIsrResponse.LeaderAndIsrTopicError(topic_id=topic_id, partition_errors=answers)
            for topic_id, answers in topics.items()
        ]
    return response
