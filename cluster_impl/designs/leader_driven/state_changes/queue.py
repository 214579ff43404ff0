"""The queue of state change requests of a broker: /brokers/state/ID and its sequential children ("sendStateChange").

It is persistent, so that what happened to its replicas reaches also a broker that was away. It is bounded, so that one
that stays away does not fill ZooKeeper: a full queue is shrunk to what must not be forgotten.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cluster_impl.coordination.steps import (
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
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.state_changes.monitor import Monitor
from cluster_impl.designs.leader_driven.state_changes.request import (
    Queued,
    StateChange,
    StateChangeRequest,
    read_request,
    write_request,
)
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.replication.control_plane import TopicPartition


class NotQueued(Exception):
    """The request was not put into the queue. The message is a sentence."""


class FollowerStateChangeQueueFull(NotQueued):
    """The queue has as many requests as it may have, and none of them can be dropped."""


class NoStateChangeQueue(NotQueued):
    """The broker has no queue: it never started, or was removed from the cluster."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for a broker, oldest first. `shrunk`: how often requests were dropped so far."""

    requests: Sequence[Queued]
    shrunk: int


def put(request: StateChangeRequest, to: int, capacity: int, monitor: Monitor) -> Steps[str]:
    """Put a request into the queue of broker `to`; shrink the queue if it is full. Returns the path of the request.

    Raises NotQueued. Several who put at the same time may exceed the capacity by as many. The request may come to be
    in the queue twice, which does no harm: each can be carried out again.
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
    """Keep the close-replica of the latest epoch for each partition, and drop the rest; returns how many are dropped.

    That something was dropped is written down first: whoever dies in between has only made the broker look twice.
    """
    waiting = yield from read_waiting(of)
    kept = _latest_closes(waiting.requests)
    dropped = [each for each in waiting.requests if each not in kept]
    if dropped:
        yield from _count_shrinking(of)
        yield [Delete(each.path) for each in dropped]
    return len(dropped)


def _latest_closes(requests: Sequence[Queued]) -> list[Queued]:
    """Of each partition; of two at the same epoch the later one."""
    latest: dict[TopicPartition, tuple[int, Queued]] = {}
    for each in requests:
        if each.request is None or each.request.change is not StateChange.CLOSE_REPLICA:
            continue
        known = latest.get(each.request.partition)
        if known is None or each.request.epoch >= known[0]:
            latest[each.request.partition] = each.request.epoch, each
    return [each for _, each in latest.values()]


def _count_shrinking(of: int) -> Steps[None]:
    while True:
        found = yield from read(znodes.state(of))
        if not isinstance(found, Found):
            return
        count = _shrunk(of, found.data)
        data = znodes.write_queue(znodes.QueueInfo(count + 1))
        [outcome] = yield [SetData(znodes.state(of), data, found.stat.version)]
        if not isinstance(outcome, BadVersion):
            return


def _shrunk(of: int, data: bytes) -> int:
    """A count that nobody can read begins anew: whoever compares it sees another one than before."""
    try:
        return znodes.read_queue(of, data).shrunk
    except MalformedZnode:
        return ANY_VERSION


def read_waiting(of: int, known: Collection[str] = (), *, watch: bool = False) -> Steps[Waiting]:
    """What waits in the queue, without the znodes whose names are `known`. With `watch`, the next change of the queue
    is told. What nobody can read is there too, with the problem."""
    [names, info] = yield [Children(znodes.state(of), watch), Get(znodes.state(of))]
    shrunk = _shrunk(of, info.data) if isinstance(info, Found) else 0
    new = sorted(name for name in names.names if name not in known) if isinstance(names, Names) else []
    found = yield from run([Get(znodes.request(of, name)) for name in new])
    requests = [_queued(of, name, each.data) for name, each in zip(new, found, strict=True) if isinstance(each, Found)]
    return Waiting(requests, shrunk)


def _queued(of: int, name: str, data: bytes) -> Queued:
    try:
        return Queued(of, name, read_request(znodes.request(of, name), data))
    except MalformedZnode as error:
        return Queued(of, name, None, str(error))
