"""Deletion of partitions and topics ("Remove partition for existing topic", "Delete topic").

The empty list under /partitions_reassigned asks the leader to have every replica closed, itself included, whereupon
/leader goes. The leader writes the list once more when the last request is in its queue: the version tells who waits
that nothing was forgotten. Where nobody leads, or the leader ended before that, this command puts the requests itself:
a replica that is asked twice is closed once.

Live brokers are waited for. What a dead one has to close stays in its queue.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from cluster_impl.coordination.steps import (
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
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.batches import (
    announce,
    await_consumed,
    chunks,
    delete_trees,
    forget_empty,
)
from cluster_impl.designs.leader_driven.admin.cleaning import clean_partitions
from cluster_impl.designs.leader_driven.admin.naming import check_name
from cluster_impl.designs.leader_driven.admin.reading import Partition, read_partitions, read_topic, running_brokers
from cluster_impl.designs.leader_driven.admin.seam import Await, Command, Failed, Procedure
from cluster_impl.designs.leader_driven.admin.sending import send_as_far_as_possible
from cluster_impl.designs.leader_driven.state_changes.request import StateChange, read_request
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire.errors import Error


def delete_topic(command: Command, name: str) -> Procedure[None]:
    """With partitions that never came to be. Raises Failed; what is left then is deleted by the next attempt."""
    check_name(name)
    topic = yield from read_topic(name)
    if topic.topic_id is None and not topic.partitions:
        raise Failed(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}.")
    yield from clean_partitions(command, name, [each for each in topic.partitions.values() if each.replicas is None])
    yield from delete_partitions(command, name, list(topic.live))
    [outcome] = yield [Delete(znodes.topic(name))]
    if isinstance(outcome, NotEmpty):
        sentence = f"{znodes.topic(name)} holds something that is no partition; the partitions are gone."
        raise Failed(Error.UNKNOWN_SERVER_ERROR, sentence)


def delete_partition(command: Command, name: str, index: int) -> Procedure[None]:
    """The last one of a topic, so that its partitions stay numbered without a gap. Raises Failed."""
    check_name(name)
    topic = yield from read_topic(name)
    if topic.topic_id is None or index not in topic.partitions:
        raise Failed(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {index} of topic {name}.")
    if index != max(topic.partitions):
        sentence = f"Only the last partition of a topic can be deleted, and that is {max(topic.partitions)}."
        raise Failed(Error.INVALID_PARTITIONS, sentence)
    if len(topic.partitions) == 1:
        sentence = f"Partition {index} is the only one of topic {name}: delete the topic."
        raise Failed(Error.INVALID_PARTITIONS, sentence)
    if topic.partitions[index].replicas is None:
        yield from clean_partitions(command, name, [topic.partitions[index]])
    else:
        yield from delete_partitions(command, name, [index])


def delete_partitions(command: Command, topic: str, indexes: Collection[int]) -> Procedure[None]:
    """Raises Failed at the first partitions that cannot be deleted."""
    for done, chunk in enumerate(chunks(indexes, command.at_once), start=1):
        yield from command.in_room(len(chunk), _delete(command, topic, chunk))
        command.tell(f"{min(done * command.at_once, len(indexes))} of {len(indexes)} partitions of {topic} are gone")
    yield from forget_empty(topic)


@dataclass(slots=True)
class _Doomed:
    """Partitions on their way out: who may hold a replica of each, and the version at which this command left its
    empty list."""

    holders: dict[int, set[int]] = field(default_factory=dict)
    marked_at: dict[int, int] = field(default_factory=dict)


def _delete(command: Command, topic: str, indexes: Collection[int]) -> Procedure[None]:
    which = {index: TopicPartition(topic, index) for index in indexes}
    until = command.now() + command.patience
    doomed = _Doomed()
    partitions = yield from read_partitions(topic, indexes)
    while True:
        yield from _mark(topic, partitions, doomed)
        yield from _await_no_leader(command, which, until)
        partitions = yield from read_partitions(topic, indexes)
        if all(each.is_being_deleted for each in partitions.values()):
            break
        if command.now() >= until:
            raise _not_deleted(command, topic, [i for i, each in partitions.items() if not each.is_being_deleted])
        # A leader that was about to complete a reassignment took the empty list away with it.
    requests = yield from _closing(command, topic, partitions, doomed)
    left = yield from await_consumed(command, requests)
    if left:
        sentence = f"broker {', '.join(map(str, sorted(set(left.values()))))} did not close its replicas"
        raise _not_deleted(command, topic, indexes, sentence)
    yield from delete_trees([znodes.partition(each) for each in which.values()])
    yield from run([Delete(znodes.reassigned(each)) for each in which.values()])


def _mark(topic: str, partitions: Mapping[int, Partition], doomed: _Doomed) -> Steps[None]:
    """Give every partition the empty list."""
    for index, each in partitions.items():
        doomed.holders.setdefault(index, set()).update(each.named)
    unmarked = [index for index, each in partitions.items() if each.marker is None]
    yield from announce(topic, dict.fromkeys(unmarked, ()))
    doomed.marked_at.update(dict.fromkeys(unmarked, 0))
    moving = {index: each.marker for index, each in partitions.items() if each.marker and each.marker.replicas}
    outcomes = yield from run(
        [
            SetData(znodes.reassigned(TopicPartition(topic, index)), znodes.write_replicas(()), marker.version)
            for index, marker in moving.items()
        ]
    )
    for index, outcome in zip(moving, outcomes, strict=True):
        if isinstance(outcome, Done):
            doomed.marked_at[index] = outcome.version


def _await_no_leader(command: Command, which: Mapping[int, TopicPartition], until: float) -> Procedure[None]:
    paths = {znodes.leader(each): index for index, each in which.items()}
    outcomes = yield Await(list(paths), until)
    led = [paths[path] for path, outcome in zip(paths, outcomes, strict=True) if isinstance(outcome, Present)]
    if not led:
        return
    topic = which[led[0]].topic
    found = yield [Get(znodes.leader(which[index])) for index in led]
    leaders = {
        znodes.read_leader(which[index], each.data).broker_id
        for index, each in zip(led, found, strict=True)
        if isinstance(each, Found)
    }
    if leaders:
        sentence = f"broker {', '.join(map(str, sorted(leaders)))} still leads"
        raise _not_deleted(command, topic, led, sentence)


def _closing(
    command: Command, topic: str, partitions: Mapping[int, Partition], doomed: _Doomed
) -> Steps[dict[str, int]]:
    """The requests that close what these partitions have, put where their leader did not; by path whose they are."""
    asked_by_leader = {
        index
        for index, each in partitions.items()
        if each.marker is not None and each.marker.version > doomed.marked_at.get(index, each.marker.version)
    }
    wanted = []
    for index, each in partitions.items():
        holders = doomed.holders[index] | each.named
        if index in asked_by_leader:
            holders -= set(each.replicas or ())
        wanted += [(StateChange.CLOSE_REPLICA, TopicPartition(topic, index), broker) for broker in sorted(holders)]
    sent = yield from send_as_far_as_possible(command, wanted)
    requests = {path: broker_id for _, broker_id, path in sent}
    if asked_by_leader:
        brokers = {broker for index in asked_by_leader for broker in partitions[index].replicas or ()}
        running = yield from running_brokers()
        requests.update((yield from _queued(topic, asked_by_leader, brokers & running)))
    return requests


def _queued(topic: str, indexes: Collection[int], brokers: Iterable[int]) -> Steps[dict[str, int]]:
    """The requests to close these partitions that the brokers have not taken yet."""
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


def _not_deleted(command: Command, topic: str, indexes: Collection[int], why: str = "") -> Failed:
    few = ", ".join(map(str, sorted(indexes)[:5])) + (f" and {len(indexes) - 5} more" if len(indexes) > 5 else "")
    return Failed(
        Error.REQUEST_TIMED_OUT,
        f"Partition {few} of topic {topic} could not be deleted within {command.patience:g} s"
        f"{f': {why}' if why else ''}. It stays marked for deletion, and the next attempt goes on.",
    )
