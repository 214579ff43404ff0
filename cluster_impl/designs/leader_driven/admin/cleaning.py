"""What a failed attempt to make partitions left ("cleanFailedTopicCreationAttempts").

The document's loop would go over every topic that is being reassigned; here it is the one topic that is to be made.
"""

from __future__ import annotations

from collections.abc import Collection

from cluster_impl.coordination.steps import Delete, SetData, Steps, names, run
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.batches import await_consumed, chunks, delete_trees, forget_empty
from cluster_impl.designs.leader_driven.admin.reading import Partition, Topic, numbers, read_topic
from cluster_impl.designs.leader_driven.admin.seam import Await, Command, Failed, Procedure
from cluster_impl.designs.leader_driven.admin.sending import send_as_far_as_possible
from cluster_impl.designs.leader_driven.state_changes.request import StateChange
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire.errors import Error


def clean_failed_topic_creation_attempts(command: Command, name: str) -> Procedure[None]:
    """Raises Failed if a partition of the topic lives: then there is nothing that failed, and the topic exists."""
    topic = yield from read_topic(name)
    if topic.live:
        yield from _forget_creations(topic)
        being_deleted = any(each.is_being_deleted for each in topic.partitions.values())
        what = "is being deleted; delete it again if that was cut short" if being_deleted else "already exists"
        raise Failed(Error.TOPIC_ALREADY_EXISTS, f"Topic {name} {what}.")
    yield from clean_partitions(command, name, list(topic.partitions.values()))
    if topic.topic_id is not None:
        yield [Delete(znodes.topic(name))]


def clean_partitions(command: Command, topic: str, unfinished: Collection[Partition]) -> Procedure[None]:
    """Close and forget partitions that were announced and never assigned.

    First the empty list takes the place of the replicas: a broker that starts between its request to close and the end
    of the announcement would make its replica again. The paths go when the live brokers have closed theirs: one that
    has become leader there would lead on for a while, beside the leader of the next attempt. A broker that does not
    close its replica in time holds up nobody for good.
    """
    by_index = {each.index: each for each in unfinished}
    brokers = numbers((yield from names(znodes.STATE))) if by_index else []
    for chunk in chunks(by_index, command.at_once):
        which = {index: TopicPartition(topic, index) for index in chunk}
        yield from run(
            [
                SetData(znodes.reassigned(which[index]), znodes.write_replicas(()))
                for index in chunk
                if by_index[index].marker is not None and not by_index[index].is_being_deleted
            ]
        )
        sent = yield from send_as_far_as_possible(
            command,
            [
                (StateChange.CLOSE_REPLICA, each, broker_id)
                for index, each in which.items()
                for broker_id in _holders(by_index[index], brokers)
            ],
        )
        until = command.now() + command.patience
        yield from await_consumed(command, {path: broker_id for _, broker_id, path in sent})
        yield Await([znodes.leader(each) for each in which.values()], until)
        yield from delete_trees([znodes.partition(each) for each in which.values()])
        yield from run([Delete(znodes.reassigned(each)) for each in which.values()])
    if by_index:
        yield from forget_empty(topic)


def _holders(of: Partition, brokers: Collection[int]) -> Collection[int]:
    """Who may have a replica: anybody where a clean-up or a deletion that was cut short has left the empty list."""
    return brokers if of.is_being_deleted else sorted(of.named)


def _forget_creations(topic: Topic) -> Steps[None]:
    """A partition that lives and is still announced with the same replicas was made by who ended just then. One that is
    announced with others is being moved, or deleted: that is not ours to end."""
    made = [each for each in topic.live.values() if each.marker is not None and each.marker.replicas == each.replicas]
    if made:
        yield [
            Delete(znodes.reassigned(TopicPartition(topic.name, each.index)), each.marker.version)
            for each in made
            if each.marker is not None
        ]
        yield from forget_empty(topic.name)
