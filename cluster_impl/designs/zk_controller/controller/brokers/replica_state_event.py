"""ReplicaStateEvent: a broker reports that some of its replicas are offline (ReplicaStateEvent, Proposed Changes).

A request is validated and answered at once, and carried out by a later event. The broker may restart in between, so the
later event compares the broker epoch again (`still_holds`).

    whole request   permission (CLUSTER_AUTHORIZATION_FAILED), [NOT_CONTROLLER], the broker epoch (STALE_BROKER_EPOCH),
                    the type of the event (UNKNOWN_REPLICA_EVENT_TYPE)
    each partition  no such topic or partition (UNKNOWN_TOPIC_OR_PARTITION); the broker holds no replica of it
                    (INVALID_REQUEST)

A broker that is not the controller (`is_controller`) answers NOT_CONTROLLER between the checks of permission and epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from fencepost.cluster_impl.designs.shared.guards import Guard, first_refusal
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

TopicData = m.ReplicaStateEventRequest.TopicData
TopicReply = m.ReplicaStateEventResponse.TopicData
PartitionReply = m.ReplicaStateEventResponse.PartitionData


ALL_PARTITIONS = -1
"""The partition in the result of a topic that was named without partitions and does not exist."""


class EventType(IntEnum):
    """The types of events (ReplicaStateEvent, RPC semantics). UNKNOWN is every undefined number."""

    OFFLINE = 1
    UNKNOWN = -1

    @classmethod
    def _missing_(cls, value: object) -> EventType:
        return cls.UNKNOWN


class ReplicaEventView(Protocol):
    """The part of the controller's state that the checks read."""

    def broker_epoch(self, broker_id: int) -> int | None:
        """Return the epoch at which a broker is registered; None if it is not."""
        ...

    def assignment(self, topic: str) -> Mapping[int, Sequence[int]] | None:
        """Return the replicas by partition; None if the topic does not exist or is being deleted."""
        ...

    def topics(self) -> Iterable[str]: ...


@dataclass(frozen=True, slots=True)
class OfflineReplicas:
    """A validated report that is still to be carried out. `reason` is for the log."""

    broker_id: int
    broker_epoch: int
    partitions: tuple[TopicPartition, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class EventValidation:
    """The response to a request, and the report to carry out afterwards, if any."""

    response: m.ReplicaStateEventResponse
    event: OfflineReplicas | None = None


@dataclass(frozen=True, slots=True)
class ReportedEvent:
    """A request, with the state that its checks need."""

    request: m.ReplicaStateEventRequest
    view: ReplicaEventView
    allowed: bool
    is_controller: bool


def _is_not_allowed(event: ReportedEvent) -> bool:
    return not event.allowed


def _is_for_another_broker(event: ReportedEvent) -> bool:
    return not event.is_controller


def _has_another_broker_epoch(event: ReportedEvent) -> bool:
    """Another process holds the id, or none does. A process with a higher epoch is not known either."""
    return event.view.broker_epoch(event.request.broker_id) != event.request.broker_epoch


def _has_an_unknown_type(event: ReportedEvent) -> bool:
    return EventType(event.request.event_type) is EventType.UNKNOWN


ReplicaStateEventGuard = Guard[[ReportedEvent]]

REPLICA_STATE_EVENT_GUARDS = (
    ReplicaStateEventGuard(Error.CLUSTER_AUTHORIZATION_FAILED, _is_not_allowed),
    ReplicaStateEventGuard(Error.NOT_CONTROLLER, _is_for_another_broker),
    ReplicaStateEventGuard(Error.STALE_BROKER_EPOCH, _has_another_broker_epoch),
    ReplicaStateEventGuard(Error.UNKNOWN_REPLICA_EVENT_TYPE, _has_an_unknown_type),
)


def validate(
    view: ReplicaEventView, request: m.ReplicaStateEventRequest, *, allowed: bool, is_controller: bool = True
) -> EventValidation:
    """Return the response to a request, and the report to carry out. `allowed`: the sender has CLUSTER_ACTION."""
    event = ReportedEvent(request, view, allowed, is_controller)
    if guard := first_refusal(REPLICA_STATE_EVENT_GUARDS, event):
        return EventValidation(m.ReplicaStateEventResponse(error_code=guard.error))
    replies = []
    offline: dict[TopicPartition, None] = {}
    for topic in request.topics or _all_of(view, request.broker_id):
        partitions = _judged(view, request.broker_id, topic)
        replies.append(TopicReply(topic=topic.topic, partitions=partitions))
        for reply in partitions:
            if reply.error_code == Error.NONE:
                offline[TopicPartition(topic.topic, reply.partition_id)] = None
    response = m.ReplicaStateEventResponse(topics=replies)
    if not offline:
        return EventValidation(response)
    reason = request.event_reason or "no reason was given"
    return EventValidation(response, OfflineReplicas(request.broker_id, request.broker_epoch, tuple(offline), reason))


def still_holds(view: ReplicaEventView, event: OfflineReplicas) -> bool:
    """Return whether the process that sent the report is still the registered one.

    ReplicaStateEvent, Proposed Changes: a broker that was restarted since may have been repaired.
    """
    return view.broker_epoch(event.broker_id) == event.broker_epoch


def _judged(view: ReplicaEventView, broker_id: int, topic: TopicData) -> list[PartitionReply]:
    """Return one result for each partition. The leader epoch is not validated for this type of event."""
    assignment = view.assignment(topic.topic)
    if topic.partitions:
        return [
            PartitionReply(
                partition_id=partition.partition_id, error_code=_error(assignment, broker_id, partition.partition_id)
            )
            for partition in topic.partitions
        ]
    if assignment is None:
        return [PartitionReply(partition_id=ALL_PARTITIONS, error_code=Error.UNKNOWN_TOPIC_OR_PARTITION)]
    return [PartitionReply(partition_id=index) for index in _held(assignment, broker_id)]


def _error(assignment: Mapping[int, Sequence[int]] | None, broker_id: int, index: int) -> Error:
    if assignment is None or index not in assignment:
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return Error.NONE if broker_id in assignment[index] else Error.INVALID_REQUEST


def _held(assignment: Mapping[int, Sequence[int]], broker_id: int) -> list[int]:
    return [index for index, replicas in sorted(assignment.items()) if broker_id in replicas]


def _all_of(view: ReplicaEventView, broker_id: int) -> list[TopicData]:
    """Return every topic of which the broker holds a replica."""
    named = ((topic, view.assignment(topic)) for topic in sorted(view.topics()))
    return [TopicData(topic=topic) for topic, assignment in named if assignment and _held(assignment, broker_id)]
