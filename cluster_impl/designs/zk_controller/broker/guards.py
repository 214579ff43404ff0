"""What a broker refuses of a controller's requests, as ordered lists of guards; the order is that of Kafka 3.9.

A request is refused as a whole if it is meant for another incarnation of this broker, or comes from an older
controller; then nothing of it is looked at. Of the rest each partition is judged by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

ControlRequest = m.LeaderAndIsrRequest | m.StopReplicaRequest | m.UpdateMetadataRequest

NO_LEADER_EPOCH = -1
"""In StopReplica: the controller does not say at which leader epoch."""
EPOCH_DURING_DELETE = -2
"""In StopReplica: the topic is deleted, whatever the leader epoch is."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What this broker knows: its own epoch, and the newest controller's that it has heard from."""

    broker_id: int
    broker_epoch: int
    controller_epoch: int


@dataclass(frozen=True, slots=True)
class Told:
    """What this broker was told last of one of its partitions; the controller epoch is that of its election."""

    topic_id: UUID
    leader_epoch: int
    controller_epoch: int


@dataclass(frozen=True, slots=True)
class Assigned:
    """One partition of LeaderAndIsr; `told` is None if nothing was said of it before."""

    topic_id: UUID
    state: m.LeaderAndIsrRequest.LeaderAndIsrPartitionState
    broker_id: int
    told: Told | None


@dataclass(frozen=True, slots=True)
class Stopped:
    """One partition of StopReplica."""

    leader_epoch: int
    told: Told | None


What = TypeVar("What")


@dataclass(frozen=True, slots=True)
class RequestGuard:
    error: Error
    refuses: Callable[[ControlRequest, Standing], bool]


@dataclass(frozen=True, slots=True)
class PartitionGuard(Generic[What]):
    error: Error
    refuses: Callable[[What], bool]


def _is_for_another_incarnation(request: ControlRequest, standing: Standing) -> bool:
    return request.broker_epoch != standing.broker_epoch


def _is_from_an_older_controller(request: ControlRequest, standing: Standing) -> bool:
    return request.controller_epoch < standing.controller_epoch


REQUEST_GUARDS: Sequence[RequestGuard] = (
    RequestGuard(Error.STALE_BROKER_EPOCH, _is_for_another_incarnation),
    RequestGuard(Error.STALE_CONTROLLER_EPOCH, _is_from_an_older_controller),
)


def _is_older_than_told(asked: Assigned) -> bool:
    """Leader epochs of two topics of one name have nothing to do with each other."""
    told = asked.told
    return told is not None and told.topic_id == asked.topic_id and asked.state.leader_epoch < told.leader_epoch


def _is_no_replica(asked: Assigned) -> bool:
    return asked.broker_id not in asked.state.replicas


ASSIGNMENT_GUARDS: Sequence[PartitionGuard[Assigned]] = (
    # What Kafka 3.9 answers for a partition here is the error of an old controller, not FENCED_LEADER_EPOCH.
    PartitionGuard(Error.STALE_CONTROLLER_EPOCH, _is_older_than_told),
    PartitionGuard(Error.UNKNOWN_TOPIC_OR_PARTITION, _is_no_replica),
)


def _stops_an_older_leadership(asked: Stopped) -> bool:
    if asked.leader_epoch in (NO_LEADER_EPOCH, EPOCH_DURING_DELETE) or asked.told is None:
        return False
    return asked.leader_epoch < asked.told.leader_epoch


STOP_GUARDS: Sequence[PartitionGuard[Stopped]] = (
    PartitionGuard(Error.FENCED_LEADER_EPOCH, _stops_an_older_leadership),
)


def refusal_of(request: ControlRequest, standing: Standing) -> Error:
    """NONE, or the error of the first guard that refuses the request as a whole."""
    return next((guard.error for guard in REQUEST_GUARDS if guard.refuses(request, standing)), Error.NONE)


def first_refusal(guards: Sequence[PartitionGuard[What]], asked: What) -> Error:
    """NONE, or the error of the first guard that refuses this partition."""
    return next((guard.error for guard in guards if guard.refuses(asked)), Error.NONE)
