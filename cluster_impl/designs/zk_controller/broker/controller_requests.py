"""The requests of the controller: LeaderAndIsr, StopReplica, UpdateMetadata. Each is idempotent (Kafka Controller
Internals).

The guards decide which requests are refused; the others go to the data plane and to the metadata.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from uuid import UUID

from fencepost.cluster_impl.api.serving import body_of
from fencepost.cluster_impl.designs.shared.guards import first_error
from fencepost.cluster_impl.designs.shared.topic_requests import NO_TOPIC_ID
from fencepost.cluster_impl.designs.zk_controller.broker.metadata import MetadataCache
from fencepost.cluster_impl.designs.zk_controller.broker.registration import ZnodeRegistration
from fencepost.cluster_impl.designs.zk_controller.broker.request_guards import (
    ASSIGNMENT_GUARDS,
    STOP_GUARDS,
    KnownAssignment,
    KnownEpochs,
    RequestedAssignment,
    RequestedStop,
    refusal_of,
)
from fencepost.cluster_impl.designs.zk_controller.broker.topic_configs import TopicConfigs
from fencepost.cluster_impl.designs.zk_controller.control_requests import FULL, NO_LEADER_EPOCH, ControlRequest
from fencepost.cluster_impl.designs.zk_controller.superseded import SupersededConnections
from fencepost.cluster_impl.replication.control_plane import (
    NO_LEADER,
    Change,
    DataPlane,
    PartitionAssignment,
    PartitionRemoved,
    ReplicaStopped,
    SettingsChanged,
    TopicPartition,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import CloseConnection, Handler, Request

log = logging.getLogger(__name__)

PIECE = 100
"""Partitions that are assigned before the event loop gets control."""

_TOPIC_IDS_FROM = 5
PartitionState = m.LeaderAndIsrRequest.LeaderAndIsrPartitionState
PartitionError = m.LeaderAndIsrResponse.LeaderAndIsrPartitionError


class ControllerRequests:
    """Handles the requests of controllers. `handlers` are by API key, for the INTERNAL listener.

    `assignments` gets the last assignment of each partition that this broker holds. `remove_strays` deletes all other
    replicas than those given from this broker's disks. `below_topics` returns the settings that this broker was given
    at run time, under the topic's names.
    """

    def __init__(
        self,
        broker_id: int,
        registration: ZnodeRegistration,
        settings: TopicConfigs,
        cache: MetadataCache,
        data_plane: DataPlane,
        assignments: dict[TopicPartition, KnownAssignment],
        remove_strays: Callable[[Collection[TopicPartition]], None],
        below_topics: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self.controller_epoch = 0
        """The newest epoch in a request that this process accepted."""
        self._broker_id = broker_id
        self._registration = registration
        self._settings = settings
        self._below_topics = below_topics
        self._cache = cache
        self._assignments = assignments
        self._remove_strays = remove_strays
        self._one_at_a_time = asyncio.Lock()
        self._superseded = SupersededConnections()
        self._data_plane = data_plane
        self.handlers: Mapping[int, Handler] = {
            m.LeaderAndIsrRequest.API_KEY: self._handle_leader_and_isr,
            m.StopReplicaRequest.API_KEY: self._handle_stop_replica,
            m.UpdateMetadataRequest.API_KEY: self._handle_update_metadata,
        }

    def settings_changed(self, topic_id: UUID | None = None) -> None:
        """Hand the replicas of a topic, or all of them, the settings that hold now."""
        changes: list[Change] = [
            SettingsChanged(
                topic=partition.topic,
                topic_id=assignment.topic_id,
                partition=partition.partition,
                config=self._config(assignment.topic_id),
            )
            for partition, assignment in self._assignments.items()
            if topic_id in (None, assignment.topic_id)
        ]
        if changes:
            self._data_plane.apply(changes)

    def _config(self, topic_id: UUID) -> Mapping[str, str]:
        """Return a topic's own settings, and below them those that this broker was given at run time."""
        return {**self._below_topics(), **(self._settings.get(topic_id) or {})}

    @property
    def _epochs(self) -> KnownEpochs:
        return KnownEpochs(self._broker_id, self._registration.epoch, self.controller_epoch)

    def _refusal(self, request: ControlRequest) -> Error:
        epochs = self._epochs
        error = refusal_of(request, epochs)
        if error:
            log.warning(
                "refused %s of controller %d at epoch %d for broker epoch %d: %s (known are %d and %d)",
                type(request).__name__.removesuffix("Request"),
                request.controller_id,
                request.controller_epoch,
                request.broker_epoch,
                error.name,
                epochs.controller_epoch,
                epochs.broker_epoch,
            )
        else:
            self.controller_epoch = request.controller_epoch
        return error

    async def _admit(self, request: ControlRequest, connection: int) -> None:
        """Raise CloseConnection for a late copy of a request, as its topic may have been created again since.

        A broker epoch above the known one may be this process's own while its registration is in progress, so wait for
        that. A request that the guards refuse is not recorded for its sender.
        """
        if request.broker_epoch > self._registration.epoch:
            await self._registration.settled()
        sender = request.controller_id, request.controller_epoch
        if not refusal_of(request, self._epochs) and self._superseded.is_superseded(sender, connection):
            name = type(request).__name__.removesuffix("Request")
            raise CloseConnection(f"{name} came that the controller has repeated by a newer connection since")

    # LeaderAndIsr

    async def _handle_leader_and_isr(self, request: Request) -> Message:
        body = body_of(request, m.LeaderAndIsrRequest)
        await self._admit(body, request.connection.number)
        if not refusal_of(body, self._epochs):
            topics = {(name, topic_id) for name, topic_id, _ in assigned(body) if self._settings.get(topic_id) is None}
            await asyncio.gather(*(self._settings.load(name, topic_id) for name, topic_id in topics))
        return await self.leader_and_isr(body, request.version)

    async def leader_and_isr(self, body: m.LeaderAndIsrRequest, version: int) -> m.LeaderAndIsrResponse:
        """Lead or follow the partitions that are not refused; the settings of their topics are known.

        Thousands of replicas take seconds to open, so the event loop gets control between pieces. Other requests of
        controllers wait meanwhile.
        """
        requested = list(assigned(body))
        async with self._one_at_a_time:
            refused = self._refusal(body)
            if refused:
                return _assignment_answer(refused, [(*each, refused) for each in requested], version)
            if body.type == FULL:
                self._keep_only(requested)
            errors: dict[TopicPartition, Error] = {}
            for start in range(0, len(requested), PIECE):
                if start:
                    await asyncio.sleep(0)
                errors |= self._assign(requested[start : start + PIECE])
        results = [
            (name, topic_id, state, errors.get(TopicPartition(name, state.partition_index), Error.NONE))
            for name, topic_id, state in requested
        ]
        return _assignment_answer(Error.NONE, results, version)

    def _keep_only(self, requested: Iterable[tuple[str, UUID, PartitionState]]) -> None:
        """Delete the replicas that a complete request does not name (KIP-516; decision DINT-30).

        They were reassigned or deleted while this broker was away, and no other request comes for them.
        """
        named = {TopicPartition(name, state.partition_index) for name, _, state in requested}
        for partition in self._assignments.keys() - named:
            del self._assignments[partition]
        self._remove_strays(named)

    def _assign(self, piece: Iterable[tuple[str, UUID, PartitionState]]) -> dict[TopicPartition, Error]:
        errors: dict[TopicPartition, Error] = {}
        changes: list[Change] = []
        for name, topic_id, state in piece:
            partition = TopicPartition(name, state.partition_index)
            requested = RequestedAssignment(topic_id, state, self._broker_id, self._assignments.get(partition))
            error = first_error(ASSIGNMENT_GUARDS, requested)
            if error:
                log.info("%s: refused leader epoch %d: %s", partition, state.leader_epoch, error.name)
                errors[partition] = error
                continue
            self._assignments[partition] = KnownAssignment(topic_id, state.leader_epoch, state.controller_epoch)
            changes.append(self._assignment(name, topic_id, state))
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
            leader_term_epoch=state.leader_epoch,
            version=state.partition_epoch,
            config=self._config(topic_id),
            is_new=state.is_new,
        )

    # StopReplica

    async def _handle_stop_replica(self, request: Request) -> Message:
        body = body_of(request, m.StopReplicaRequest)
        await self._admit(body, request.connection.number)
        async with self._one_at_a_time:
            return self.stop_replica(body)

    def stop_replica(self, body: m.StopReplicaRequest) -> m.StopReplicaResponse:
        """Stop the replicas that are not refused, and delete those that the request says to delete."""
        refused = self._refusal(body)
        errors: dict[TopicPartition, Error] = {}
        changes: list[Change] = []
        for partition, leader_epoch, delete in stopped(body):
            known = self._assignments.get(partition)
            error = refused or first_error(STOP_GUARDS, RequestedStop(leader_epoch, known))
            errors[partition] = error
            if error:
                continue
            topic_id = known.topic_id if known is not None else None
            if delete:
                self._assignments.pop(partition, None)
                changes.append(
                    PartitionRemoved(topic=partition.topic, topic_id=topic_id, partition=partition.partition)
                )
            else:
                changes.append(ReplicaStopped(topic=partition.topic, topic_id=topic_id, partition=partition.partition))
        if changes:
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
        """Apply the controller's metadata of brokers and partitions."""
        refused = self._refusal(body)
        if not refused:
            for topic in self._cache.update(body):
                self._settings.want(topic.name, topic.topic_id)
        return m.UpdateMetadataResponse(error_code=refused)


def assigned(body: m.LeaderAndIsrRequest) -> Iterable[tuple[str, UUID, PartitionState]]:
    """Yield topic, topic id and state of each partition; before version 2 they are not grouped by topic."""
    for state in body.ungrouped_partition_states:
        yield state.topic_name, NO_TOPIC_ID, state
    for topic in body.topic_states:
        for state in topic.partition_states:
            yield topic.topic_name, topic.topic_id, state


def stopped(body: m.StopReplicaRequest) -> Iterable[tuple[TopicPartition, int, bool]]:
    """Yield partition, leader epoch, and whether to delete it; leader epochs exist since version 3."""
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
    """Return the response; since version 5 it names topics by their ids."""
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
