"""Carrying out a state change request ("stateChangeListener").

The driver reads the queue (`queue.read_waiting`) and hands the requests of each partition to its replica in the order
of the queue, one at a time. Requests of different partitions run side by side.
"""

from __future__ import annotations

from typing import Protocol

from fencepost.cluster_impl.coordination.steps import Delete, Exists, Found, Get, Present, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import (
    QueuedRequest,
    StateChange,
    StateChangeRequest,
)
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode


class NotStarted(Exception):
    """A replica could not be started or closed. The message has no full stop."""


class NotReplicaForPartition(NotStarted):
    """Neither the assignment nor a reassignment names this broker."""


class ReplicaOperations(Protocol):
    """The replica that a request names, whether it is started or not."""

    def start(self, now: float) -> Steps[None]:
        """Start the replica. Raises NotStarted."""
        ...

    def close(self, now: float) -> Steps[None]:
        """Stop the replica and delete its log, if there is one. Raises NotStarted if its log directory has failed."""
        ...

    def prefer(self, now: float) -> None:
        """Give way to the preferred replica soon, if it can lead. Raises NotStarted if this replica does not lead."""
        ...


def carry_out(
    queued: QueuedRequest, replica: ReplicaOperations, monitor: StateChangeMonitor, now: float
) -> Steps[None]:
    """Carry out, ignore or fail one request, then delete it from the queue.

    The request is deleted last, so a request that was begun when the process died is begun again; each request can be
    repeated without harm.
    """
    request = queued.request
    assert request is not None, "an unreadable request is for `drop`"
    monitor.received(request)
    try:
        latest = yield from _later_epoch(request)
        if latest is not None:
            monitor.ignored(request, latest)
        else:
            match request.change:
                case StateChange.CLOSE_REPLICA:
                    yield from replica.close(now)
                case StateChange.START_REPLICA:
                    yield from replica.start(now)
                case StateChange.PREFER_REPLICA:
                    replica.prefer(now)
            monitor.completed(request)
    except (NotStarted, MalformedZnode) as error:
        monitor.failed(request, str(error))
    yield [Delete(queued.path)]


def drop(queued: QueuedRequest, monitor: StateChangeMonitor) -> Steps[None]:
    """Delete an unreadable request from the queue, and log its problem."""
    monitor.unreadable(queued.problem)
    yield [Delete(queued.path)]


def _later_epoch(request: StateChangeRequest) -> Steps[int | None]:
    """Return the partition's epoch if the request is of another epoch and must be ignored; else None.

    A close-replica is carried out at any epoch, so that it reaches brokers that were down. A partition without a leader
    is new, or is about to have a later epoch. A request of an admin command has no epoch to compare: the first leader
    of a new partition may be elected before slower replicas read their requests.
    """
    if request.change is StateChange.CLOSE_REPLICA or request.is_by_admin:
        return None
    [leader, found] = yield [Exists(znodes.leader(request.partition)), Get(znodes.isr(request.partition))]
    if not isinstance(leader, Present) or not isinstance(found, Found):
        return None
    latest = znodes.read_isr(request.partition, found.data, found.stat.version).epoch
    return latest if latest != request.epoch else None
