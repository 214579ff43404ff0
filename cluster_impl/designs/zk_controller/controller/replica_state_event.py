"""ReplicaStateEvent: a broker tells the controller that replicas of it are offline (that document, Proposed Changes).

A request is validated and answered at once, and carried out later by an event of its own. In between the broker may be
restarted, so the handling compares the broker epoch again (`still_holds`).

    whole request   permission (CLUSTER_AUTHORIZATION_FAILED), [NOT_CONTROLLER], the broker epoch (STALE_BROKER_EPOCH),
                    the type of the event (UNKNOWN_REPLICA_EVENT_TYPE)
    each partition  no such topic or partition (UNKNOWN_TOPIC_OR_PARTITION); the broker holds no replica of it
                    (INVALID_REQUEST)

Who is not the controller answers NOT_CONTROLLER, which comes between permission and epoch: `is_controller` says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

TopicData = m.ReplicaStateEventRequest.TopicData
TopicReply = m.ReplicaStateEventResponse.TopicData
PartitionReply = m.ReplicaStateEventResponse.PartitionData


ALL_PARTITIONS = -1
"""Stands in an answer for the partitions of a topic that was named without any, and does not exist."""


class EventType(IntEnum):
    """ReplicaStateEvent, RPC semantics: the only type so far. UNKNOWN stands for every other number."""

    OFFLINE = 1
    UNKNOWN = -1

    @classmethod
    def _missing_(cls, value: object) -> EventType:
        return cls.UNKNOWN


class View(Protocol):
    """What the controller knows, as far as it matters here."""

    def broker_epoch(self, broker_id: int) -> int | None:
        """The epoch at which a broker is registered; None if it is not."""
        ...

    def assignment(self, topic: str) -> Mapping[int, Sequence[int]] | None:
        """The replicas by partition; None for a topic that does not exist, or is being deleted."""
        ...

    def topics(self) -> Iterable[str]: ...


@dataclass(frozen=True, slots=True)
class ReplicasOffline:
    """What was told, validated, and still to be done. `reason` is for the log."""

    broker_id: int
    broker_epoch: int
    partitions: tuple[TopicPartition, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Validated:
    """The answer to a request, and what is to be done after it; None if there is nothing."""

    response: m.ReplicaStateEventResponse
    event: ReplicasOffline | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with what must be known to judge it."""

    request: m.ReplicaStateEventRequest
    view: View
    allowed: bool
    is_controller: bool


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses the whole request with `error` if `refuses` is true of it."""

    error: Error
    refuses: Callable[[Asked], bool]


def _may_not(asked: Asked) -> bool:
    return not asked.allowed


def _asks_another(asked: Asked) -> bool:
    return not asked.is_controller


def _has_another_broker_epoch(asked: Asked) -> bool:
    """Another process holds the id, or none does. Nothing is known of one with a higher epoch either."""
    return asked.view.broker_epoch(asked.request.broker_id) != asked.request.broker_epoch


def _has_an_unknown_type(asked: Asked) -> bool:
    return EventType(asked.request.event_type) is EventType.UNKNOWN


GUARDS = (
    Guard(Error.CLUSTER_AUTHORIZATION_FAILED, _may_not),
    Guard(Error.NOT_CONTROLLER, _asks_another),
    Guard(Error.STALE_BROKER_EPOCH, _has_another_broker_epoch),
    Guard(Error.UNKNOWN_REPLICA_EVENT_TYPE, _has_an_unknown_type),
)


def validate(
    view: View, request: m.ReplicaStateEventRequest, *, allowed: bool, is_controller: bool = True
) -> Validated:
    """Answer a request, and say what it leaves to be done. `allowed`: the sender has CLUSTER_ACTION."""
    asked = Asked(request, view, allowed, is_controller)
    for guard in GUARDS:
        if guard.refuses(asked):
            return Validated(m.ReplicaStateEventResponse(error_code=guard.error))
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
        return Validated(response)
    reason = request.event_reason or "no reason was given"
    return Validated(response, ReplicasOffline(request.broker_id, request.broker_epoch, tuple(offline), reason))


def still_holds(view: View, event: ReplicasOffline) -> bool:
    """Whether the process that reported is still the one that is registered.

    ReplicaStateEvent, Proposed Changes: a broker that was restarted since may have been repaired.
    """
    return view.broker_epoch(event.broker_id) == event.broker_epoch


def _judged(view: View, broker_id: int, topic: TopicData) -> list[PartitionReply]:
    """One result for each partition meant. The leader epoch is not looked at: it is not validated for offline."""
    assignment = view.assignment(topic.topic)
    if topic.partitions:
        return [
            PartitionReply(partition_id=each.partition_id, error_code=_error(assignment, broker_id, each.partition_id))
            for each in topic.partitions
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


def _all_of(view: View, broker_id: int) -> list[TopicData]:
    """Every topic of which the broker holds a replica."""
    named = ((topic, view.assignment(topic)) for topic in sorted(view.topics()))
    return [TopicData(topic=topic) for topic, assignment in named if assignment and _held(assignment, broker_id)]
