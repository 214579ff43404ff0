"""Carrying out a state change request ("stateChangeListener").

Whoever drives this reads the queue (`queue.read_waiting`), hands the requests of each partition to its replica in the
order of the queue, one at a time, and those of different partitions side by side.
"""

from __future__ import annotations

from typing import Protocol

from cluster_impl.coordination.steps import Delete, Exists, Found, Get, Present, Steps
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.state_changes.monitor import Monitor
from cluster_impl.designs.leader_driven.state_changes.request import Queued, StateChange, StateChangeRequest
from cluster_impl.designs.on_zookeeper.document import MalformedZnode


class NotStarted(Exception):
    """A replica could not be started or closed. The message is a sentence without its full stop."""


class NotReplicaForPartition(NotStarted):
    """Neither the assignment nor a reassignment names this broker."""


class Replica(Protocol):
    """Of the partition that the request names, whether it is started or not."""

    def start(self, now: float) -> Steps[None]:
        """Raises NotStarted."""
        ...

    def close(self, now: float) -> Steps[None]:
        """Stop and delete it, if there is one. Raises NotStarted if its log dir has failed."""
        ...


def carry_out(queued: Queued, replica: Replica, monitor: Monitor, now: float) -> Steps[None]:
    """One request to its end: carried out, ignored or failed, and then taken out of the queue.

    Only then, so a request that was begun when the process died is begun again: each can be carried out twice.
    """
    request = queued.request
    assert request is not None, "what cannot be read is dropped by `drop`"
    monitor.received(request)
    try:
        latest = yield from _later_epoch(request)
        if latest is not None:
            monitor.ignored(request, latest)
        else:
            if request.change is StateChange.CLOSE_REPLICA:
                yield from replica.close(now)
            else:
                yield from replica.start(now)
            monitor.completed(request)
    except (NotStarted, MalformedZnode) as error:
        monitor.failed(request, str(error))
    yield [Delete(queued.path)]


def drop(queued: Queued, monitor: Monitor) -> Steps[None]:
    """Take out of the queue what nobody can read."""
    monitor.unreadable(queued.problem)
    yield [Delete(queued.path)]


def _later_epoch(request: StateChangeRequest) -> Steps[int | None]:
    """The epoch of the partition if the request is to be ignored since it came from another one; else None.

    A close-replica is carried out at any epoch, so that it reaches brokers that were away. A partition without leader
    is new, or is about to have a later epoch. The request of an admin command has no epoch to be compared: the first
    leader of a new partition may be elected before slower replicas read theirs.
    """
    if request.change is StateChange.CLOSE_REPLICA or request.is_by_admin:
        return None
    [leader, found] = yield [Exists(znodes.leader(request.partition)), Get(znodes.isr(request.partition))]
    if not isinstance(leader, Present) or not isinstance(found, Found):
        return None
    latest = znodes.read_isr(request.partition, found.data, found.stat.version).epoch
    return latest if latest != request.epoch else None
