"""Deleting partitions and topics ("Remove partition for existing topic", "Delete topic").

The empty list under /partitions_reassigned tells the leader to have every replica closed, its own included, after which
/leader is deleted. Once the last request is in its queue, the leader writes the list again; the new version tells the
waiting command that no replica was forgotten. If there is no leader, or the leader ended before that, the command puts
the requests itself: a replica that gets two requests closes once.

The command waits for live brokers. The requests of a dead broker stay in its queue.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from fencepost.cluster_impl.coordination.steps import (
    Children,
    Delete,
    Done,
    Found,
    Get,
    Names,
    NotEmpty,
    Present,
    SetData,
    Steps,
    run,
)
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.batches import (
    announce,
    await_consumed,
    chunks,
    forget_empty,
)
from fencepost.cluster_impl.designs.leader_driven.admin.cleaning import clean_partitions
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Await, Command, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import (
    StoredPartition,
    read_partitions,
    read_topic,
    running_brokers,
)
from fencepost.cluster_impl.designs.leader_driven.admin.sending import send_as_far_as_possible
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange, read_request
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.on_zookeeper.trees import delete_trees
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError, check_name, unknown_topic
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error


def delete_topic(command: Command, name: str) -> Procedure[None]:
    """Delete the topic, with partitions that were never assigned.

    Raises RequestError; the next attempt deletes what is left.
    """
    check_name(name)
    topic = yield from read_topic(name)
    if topic.topic_id is None and not topic.partitions:
        raise unknown_topic(name)
    yield from clean_partitions(
        command, name, [partition for partition in topic.partitions.values() if partition.replicas is None]
    )
    yield from delete_partitions(command, name, list(topic.live))
    [outcome] = yield [Delete(znodes.topic(name))]
    if isinstance(outcome, NotEmpty):
        message = f"{znodes.topic(name)} holds a child that is not a partition; the partitions are deleted."
        raise RequestError(Error.UNKNOWN_SERVER_ERROR, message)


def delete_partition(command: Command, name: str, index: int) -> Procedure[None]:
    """Delete the last partition of a topic, so that the numbers stay without a gap. Raises RequestError."""
    check_name(name)
    topic = yield from read_topic(name)
    if topic.topic_id is None or index not in topic.partitions:
        raise RequestError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {index} of topic {name}.")
    if index != max(topic.partitions):
        message = f"Only the last partition of a topic can be deleted; here it is {max(topic.partitions)}."
        raise RequestError(Error.INVALID_PARTITIONS, message)
    if len(topic.partitions) == 1:
        message = f"Partition {index} is the only one of topic {name}: delete the topic."
        raise RequestError(Error.INVALID_PARTITIONS, message)
    if topic.partitions[index].replicas is None:
        yield from clean_partitions(command, name, [topic.partitions[index]])
    else:
        yield from delete_partitions(command, name, [index])


def delete_partitions(command: Command, topic: str, indexes: Collection[int]) -> Procedure[None]:
    """Delete these partitions. Raises RequestError at the first that cannot be deleted."""
    for done, chunk in enumerate(chunks(indexes, command.at_once), start=1):
        yield from command.within_limit(len(chunk), _delete(command, topic, chunk))
        command.report_progress(
            f"{min(done * command.at_once, len(indexes))} of {len(indexes)} partitions of {topic} are gone"
        )
    yield from forget_empty(topic)


@dataclass(slots=True)
class _PartitionDeletions:
    """Partitions that are being deleted: the brokers that may hold a replica of each, and the version at which this
    command left its empty list."""

    holders: dict[int, set[int]] = field(default_factory=dict)
    marked_at: dict[int, int] = field(default_factory=dict)


def _delete(command: Command, topic: str, indexes: Collection[int]) -> Procedure[None]:
    which = {index: TopicPartition(topic, index) for index in indexes}
    until = command.now() + command.timeout_s
    deletions = _PartitionDeletions()
    partitions = yield from read_partitions(topic, indexes)
    while True:
        yield from _mark(topic, partitions, deletions)
        yield from _await_no_leader(command, which, until)
        partitions = yield from read_partitions(topic, indexes)
        if all(partition.is_being_deleted for partition in partitions.values()):
            break
        if command.now() >= until:
            raise _not_deleted(
                command, topic, [i for i, partition in partitions.items() if not partition.is_being_deleted]
            )
        # A leader that completed a reassignment at the same moment deleted the empty list.
    requests = yield from _closing(command, topic, partitions, deletions)
    left = yield from await_consumed(command, requests)
    if left:
        message = f"broker {', '.join(map(str, sorted(set(left.values()))))} did not close its replicas"
        raise _not_deleted(command, topic, indexes, message)
    yield from delete_trees([znodes.partition(partition) for partition in which.values()])
    yield from run([Delete(znodes.reassigned(partition)) for partition in which.values()])


def _mark(topic: str, partitions: Mapping[int, StoredPartition], deletions: _PartitionDeletions) -> Steps[None]:
    """Write the empty list for every partition."""
    for index, partition in partitions.items():
        deletions.holders.setdefault(index, set()).update(partition.named)
    unmarked = [index for index, partition in partitions.items() if partition.marker is None]
    yield from announce(topic, dict.fromkeys(unmarked, ()))
    deletions.marked_at.update(dict.fromkeys(unmarked, 0))
    moving = {
        index: partition.marker
        for index, partition in partitions.items()
        if partition.marker and partition.marker.replicas
    }
    outcomes = yield from run(
        [
            SetData(znodes.reassigned(TopicPartition(topic, index)), znodes.write_replicas(()), marker.version)
            for index, marker in moving.items()
        ]
    )
    for index, outcome in zip(moving, outcomes, strict=True):
        if isinstance(outcome, Done):
            deletions.marked_at[index] = outcome.version


def _await_no_leader(command: Command, which: Mapping[int, TopicPartition], until: float) -> Procedure[None]:
    paths = {znodes.leader(partition): index for index, partition in which.items()}
    outcomes = yield Await(list(paths), until)
    led = [paths[path] for path, outcome in zip(paths, outcomes, strict=True) if isinstance(outcome, Present)]
    if not led:
        return
    topic = which[led[0]].topic
    outcomes = yield [Get(znodes.leader(which[index])) for index in led]
    leaders = {
        znodes.read_leader(which[index], outcome.data).broker_id
        for index, outcome in zip(led, outcomes, strict=True)
        if isinstance(outcome, Found)
    }
    if leaders:
        message = f"broker {', '.join(map(str, sorted(leaders)))} still leads"
        raise _not_deleted(command, topic, led, message)


def _closing(
    command: Command, topic: str, partitions: Mapping[int, StoredPartition], deletions: _PartitionDeletions
) -> Steps[dict[str, int]]:
    """Put the close requests that no leader has put; return all of them as path -> broker id."""
    requested_by_leader = {
        index
        for index, partition in partitions.items()
        if partition.marker is not None
        and partition.marker.version > deletions.marked_at.get(index, partition.marker.version)
    }
    requested = []
    for index, partition in partitions.items():
        holders = deletions.holders[index] | partition.named
        if index in requested_by_leader:
            holders -= set(partition.replicas or ())
        requested += [(StateChange.CLOSE_REPLICA, TopicPartition(topic, index), broker) for broker in sorted(holders)]
    sent = yield from send_as_far_as_possible(command, requested)
    requests = {path: broker_id for _, broker_id, path in sent}
    if requested_by_leader:
        brokers = {broker for index in requested_by_leader for broker in partitions[index].replicas or ()}
        running = yield from running_brokers()
        requests.update((yield from _queued(topic, requested_by_leader, brokers & running)))
    return requests


def _queued(topic: str, indexes: Collection[int], brokers: Iterable[int]) -> Steps[dict[str, int]]:
    """Return the close requests for these partitions that the brokers have not taken yet, as path -> broker id."""
    requests = {}
    for broker_id in sorted(brokers):
        [listed] = yield [Children(znodes.state(broker_id))]
        paths = [znodes.request(broker_id, name) for name in listed.names] if isinstance(listed, Names) else []
        outcomes = yield from run([Get(path) for path in paths])
        for path, outcome in zip(paths, outcomes, strict=True):
            if not isinstance(outcome, Found):
                continue
            try:
                request = read_request(path, outcome.data)
            except MalformedZnode:
                continue  # its broker says so, and takes it away
            is_ours = request.partition.topic == topic and request.partition.partition in indexes
            if is_ours and request.change is StateChange.CLOSE_REPLICA:
                requests[path] = broker_id
    return requests


def _not_deleted(command: Command, topic: str, indexes: Collection[int], why: str = "") -> RequestError:
    few = ", ".join(map(str, sorted(indexes)[:5])) + (f" and {len(indexes) - 5} more" if len(indexes) > 5 else "")
    return RequestError(
        Error.REQUEST_TIMED_OUT,
        f"Partition {few} of topic {topic} could not be deleted within {command.timeout_s:g} s"
        f"{f': {why}' if why else ''}. It stays marked for deletion, and the next attempt continues.",
    )
