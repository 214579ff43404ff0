"""The tool's output: topics with their partitions, and brokers with their pending requests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from fencepost.cluster_impl.coordination.steps import Steps, names
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.reading import (
    PartitionLeadership,
    StoredPartition,
    live_brokers,
    numbers,
    read_leaderships,
    read_topic,
    topic_names,
)
from fencepost.cluster_impl.designs.leader_driven.state_changes.queue import PendingRequests, read_waiting
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import QueuedRequest
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.wire.errors import Error


def describe(topics: Collection[str]) -> Steps[str]:
    """Return the live brokers and a table for each of these topics, or for all.

    Raises RequestError for a topic that does not exist.
    """
    live = yield from live_brokers()
    shown = [f"live brokers: {_ids(live)}"]
    existing = {*(yield from topic_names()), *(yield from names(znodes.REASSIGNED))}
    for name in topics or sorted(existing):
        if name not in existing:
            raise RequestError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}.")
        shown.append((yield from _topic(name)))
    return "\n\n".join(shown)


def _topic(name: str) -> Steps[str]:
    topic = yield from read_topic(name)
    led = yield from read_leaderships(name, sorted(topic.partitions))
    settings = "".join(f", {key}={value}" for key, value in sorted(topic.config.items()))
    rows = [
        ("partition", "leader", "epoch", "in sync", "assigned", "under way"),
        *(_partition(topic.partitions[index], led[index]) for index in sorted(topic.partitions)),
    ]
    identity = f"id {topic.topic_id}" if topic.topic_id is not None else "no topic any more, only leftovers"
    return f"topic {name}, {identity}{settings}\n{_table(rows)}"


def _partition(of: StoredPartition, led: PartitionLeadership) -> tuple[str, ...]:
    leader, in_sync = led.leader, led.in_sync
    return (
        str(of.index),
        "none" if leader is None else str(leader.broker_id),
        "-" if in_sync is None else str(in_sync.epoch),
        "-" if in_sync is None else _ids(in_sync.isr),
        "-" if of.replicas is None else _ids(of.replicas),
        _under_way(of),
    )


def _under_way(of: StoredPartition) -> str:
    if of.marker is None:
        return "-" if of.replicas is not None else "left by a creation or deletion that was cut short"
    if not of.marker.replicas:
        return "deletion"
    return f"{'move' if of.replicas is not None else 'creation'} to {_ids(of.marker.replicas)}"


def queues(brokers: Collection[int], *, show_requests: bool) -> Steps[str]:
    """Return a table of the queues of these brokers, or of all. Raises RequestError for a broker without a queue."""
    known = numbers((yield from names(znodes.STATE)))
    live = yield from live_brokers()
    rows: list[Sequence[str]] = [("broker", "registered", "waiting", "shrunk", "oldest")]
    requests: list[str] = []
    for broker_id in brokers or known:
        if broker_id not in known:
            raise RequestError(Error.BROKER_NOT_AVAILABLE, f"There is no broker {broker_id}: it has no queue.")
        waiting = yield from read_waiting(broker_id)
        rows.append(_queue(broker_id, broker_id in live, waiting))
        requests += [_line(request) for request in waiting.requests]
    return "\n".join([_table(rows), *(requests if show_requests else [])])


def _queue(broker_id: int, is_live: bool, waiting: PendingRequests) -> tuple[str, ...]:
    oldest = _words(waiting.requests[0]) if waiting.requests else "-"
    return str(broker_id), "yes" if is_live else "no", str(len(waiting.requests)), str(waiting.shrunk), oldest


def _line(queued: QueuedRequest) -> str:
    return f"broker {queued.broker_id}, {queued.name}: {_words(queued)}"


def _words(queued: QueuedRequest) -> str:
    request = queued.request
    if request is None:
        return queued.problem
    by = "an admin command" if request.is_by_admin else f"leader {request.sender}"
    return f"{request.change.value} {request.partition} by {by} at epoch {request.epoch}"


def _ids(broker_ids: Iterable[int]) -> str:
    return ",".join(map(str, broker_ids)) or "none"


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
