"""The queue of state change requests of a broker: /brokers/state/ID and its sequential children ("sendStateChange").

The queue is persistent, so that a broker that was down still receives the requests for its replicas. It is bounded, so
that a broker that stays down does not fill ZooKeeper: a full queue is shrunk to the requests that must not be lost.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fencepost.cluster_impl.coordination.steps import (
    ANY_VERSION,
    Absent,
    BadVersion,
    Children,
    Create,
    Created,
    Delete,
    Exists,
    Found,
    Get,
    Names,
    Present,
    SetData,
    Steps,
    read,
    run,
)
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import (
    QueuedRequest,
    StateChange,
    StateChangeRequest,
    read_request,
    write_request,
)
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.replication.control_plane import TopicPartition


class NotQueued(Exception):
    """The request was not put into the queue. The message says why, without a full stop."""


class FollowerStateChangeQueueFull(NotQueued):
    """The queue is full, and none of its requests can be dropped."""


class NoStateChangeQueue(NotQueued):
    """The broker has no queue: it never started, or was removed from the cluster."""


@dataclass(frozen=True, slots=True)
class PendingRequests:
    """The requests that wait for a broker, oldest first. `shrunk` counts how often requests were dropped."""

    requests: Sequence[QueuedRequest]
    shrunk: int


def put(request: StateChangeRequest, to: int, capacity: int, monitor: StateChangeMonitor) -> Steps[str]:
    """Put a request into the queue of broker `to` and return its path; shrink the queue first if it is full.

    `capacity` is state.change.queue.max.requests; senders that put at the same time may exceed it by their number.
    After a lost response the request may be in the queue twice, which does no harm. Raises NotQueued.
    """
    backlog = yield from _length(to)
    if backlog >= capacity:
        dropped = yield from shrink(to)
        backlog = yield from _length(to)
        monitor.shrunk(to, dropped, backlog)
    if backlog >= capacity:
        monitor.is_full(to, backlog)
        raise FollowerStateChangeQueueFull(f"the state change queue of broker {to} is full with {backlog} requests")
    [made] = yield [Create(znodes.request_prefix(to), write_request(request), sequence=True)]
    if isinstance(made, Absent):
        raise NoStateChangeQueue(f"broker {to} has no state change queue")
    assert isinstance(made, Created)
    monitor.requested(request, to, backlog + 1)
    return made.path


def _length(of: int) -> Steps[int]:
    [found] = yield [Exists(znodes.state(of))]
    if not isinstance(found, Present):
        raise NoStateChangeQueue(f"broker {of} has no state change queue")
    return found.stat.children


def shrink(of: int) -> Steps[int]:
    """Drop all requests but the newest close-replica of each partition; return the number dropped.

    The counter is raised before anything is deleted: a sender that dies in between only makes the broker read its
    assignment once more.
    """
    waiting = yield from read_waiting(of)
    kept = _latest_closes(waiting.requests)
    dropped = [queued for queued in waiting.requests if queued not in kept]
    if dropped:
        yield from _count_shrinking(of)
        yield [Delete(queued.path) for queued in dropped]
    return len(dropped)


def _latest_closes(requests: Sequence[QueuedRequest]) -> list[QueuedRequest]:
    """Return the newest close request per partition; on equal epochs the later wins."""
    latest: dict[TopicPartition, tuple[int, QueuedRequest]] = {}
    for queued in requests:
        if queued.request is None or queued.request.change is not StateChange.CLOSE_REPLICA:
            continue
        known = latest.get(queued.request.partition)
        if known is None or queued.request.epoch >= known[0]:
            latest[queued.request.partition] = queued.request.epoch, queued
    return [queued for _, queued in latest.values()]


def _count_shrinking(of: int) -> Steps[None]:
    while True:
        found = yield from read(znodes.state(of))
        if not isinstance(found, Found):
            return
        count = _shrunk(of, found.data)
        data = znodes.write_queue(znodes.QueueZnode(count + 1))
        [outcome] = yield [SetData(znodes.state(of), data, found.stat.version)]
        if not isinstance(outcome, BadVersion):
            return


def _shrunk(of: int, data: bytes) -> int:
    """Return the counter. An unreadable counter starts over, so a broker that compares it sees a change."""
    try:
        return znodes.read_queue(of, data).shrunk
    except MalformedZnode:
        return ANY_VERSION


def read_waiting(of: int, known: Collection[str] = (), *, watch: bool = False) -> Steps[PendingRequests]:
    """Read the pending requests of broker `of`, except the znodes named in `known`.

    Unparsable entries are included with their error. With `watch`, a watch is set on the queue.
    """
    [names, info] = yield [Children(znodes.state(of), watch), Get(znodes.state(of))]
    shrunk = _shrunk(of, info.data) if isinstance(info, Found) else 0
    new = sorted(name for name in names.names if name not in known) if isinstance(names, Names) else []
    outcomes = yield from run([Get(znodes.request(of, name)) for name in new])
    requests = [
        _queued(of, name, outcome.data)
        for name, outcome in zip(new, outcomes, strict=True)
        if isinstance(outcome, Found)
    ]
    return PendingRequests(requests, shrunk)


def _queued(of: int, name: str, data: bytes) -> QueuedRequest:
    try:
        return QueuedRequest(of, name, read_request(znodes.request(of, name), data))
    except MalformedZnode as error:
        return QueuedRequest(of, name, None, str(error))
