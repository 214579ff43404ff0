"""The guards of a broker against requests of a controller, in the order of Kafka 3.9.

A request is refused as a whole if it is for another incarnation of this broker, or from an older controller.
Otherwise each of its partitions is checked on its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from fencepost.cluster_impl.designs.shared.guards import Guard, first_error
from fencepost.cluster_impl.designs.zk_controller.control_requests import (
    EPOCH_DURING_DELETE,
    NO_LEADER_EPOCH,
    ControlRequest,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error


@dataclass(frozen=True, slots=True)
class KnownEpochs:
    """The epoch of this broker, and the newest epoch of a controller that sent it a request."""

    broker_id: int
    broker_epoch: int
    controller_epoch: int


@dataclass(frozen=True, slots=True)
class KnownAssignment:
    """The last assignment of a partition that this broker accepted; the controller epoch is that of its election."""

    topic_id: UUID
    leader_epoch: int
    controller_epoch: int


@dataclass(frozen=True, slots=True)
class RequestedAssignment:
    """One partition of LeaderAndIsr; `known` is None if this broker did not hold it before."""

    topic_id: UUID
    state: m.LeaderAndIsrRequest.LeaderAndIsrPartitionState
    broker_id: int
    known: KnownAssignment | None


@dataclass(frozen=True, slots=True)
class RequestedStop:
    """One partition of StopReplica; `known` is None if this broker does not hold it."""

    leader_epoch: int
    known: KnownAssignment | None


def _is_for_another_incarnation(request: ControlRequest, epochs: KnownEpochs) -> bool:
    return request.broker_epoch != epochs.broker_epoch


def _is_from_an_older_controller(request: ControlRequest, epochs: KnownEpochs) -> bool:
    return request.controller_epoch < epochs.controller_epoch


RequestGuard = Guard[[ControlRequest, KnownEpochs]]

REQUEST_GUARDS = (
    RequestGuard(Error.STALE_BROKER_EPOCH, _is_for_another_incarnation),
    RequestGuard(Error.STALE_CONTROLLER_EPOCH, _is_from_an_older_controller),
)


def _has_an_older_leader_epoch(requested: RequestedAssignment) -> bool:
    """The leader epochs of two topics with one name are unrelated."""
    known = requested.known
    return (
        known is not None and known.topic_id == requested.topic_id and requested.state.leader_epoch < known.leader_epoch
    )


def _is_no_replica(requested: RequestedAssignment) -> bool:
    return requested.broker_id not in requested.state.replicas


AssignmentGuard = Guard[[RequestedAssignment]]

ASSIGNMENT_GUARDS = (
    # As in Kafka 3.9, the error of a partition is that of an old controller, not FENCED_LEADER_EPOCH.
    AssignmentGuard(Error.STALE_CONTROLLER_EPOCH, _has_an_older_leader_epoch),
    AssignmentGuard(Error.UNKNOWN_TOPIC_OR_PARTITION, _is_no_replica),
)


def _stops_an_older_leadership(requested: RequestedStop) -> bool:
    if requested.leader_epoch in (NO_LEADER_EPOCH, EPOCH_DURING_DELETE) or requested.known is None:
        return False
    return requested.leader_epoch < requested.known.leader_epoch


StopGuard = Guard[[RequestedStop]]

STOP_GUARDS = (StopGuard(Error.FENCED_LEADER_EPOCH, _stops_an_older_leadership),)


def refusal_of(request: ControlRequest, epochs: KnownEpochs) -> Error:
    """Return the error of the first guard that refuses the request as a whole, NONE if none does."""
    return first_error(REQUEST_GUARDS, request, epochs)
