"""Cleaning up after a failed attempt to create partitions ("cleanFailedTopicCreationAttempts").

The loop in the document covers every topic under reassignment; here it covers only the topic that is to be created.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.coordination.steps import Delete, SetData, Steps, names, run
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.batches import (
    await_consumed,
    chunks,
    forget_empty,
)
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Await, Command, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import StoredPartition, StoredTopic, numbers, read_topic
from fencepost.cluster_impl.designs.leader_driven.admin.sending import send_as_far_as_possible
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange
from fencepost.cluster_impl.designs.on_zookeeper.trees import delete_trees
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error


def left_by_failed_attempts(name: str) -> Steps[StoredTopic]:
    """Return what failed attempts to create the topic left behind.

    Raises RequestError if a partition of the topic is live: then no attempt failed, and the topic exists.
    """
    topic = yield from read_topic(name)
    if topic.live:
        yield from _forget_creations(topic)
        being_deleted = any(partition.is_being_deleted for partition in topic.partitions.values())
        what = "is being deleted; delete it again if that was cut short" if being_deleted else "already exists"
        raise RequestError(Error.TOPIC_ALREADY_EXISTS, f"Topic {name} {what}.")
    return topic


def clean_failed_topic_creation_attempts(command: Command, left: StoredTopic) -> Procedure[None]:
    """Remove what failed attempts to create a topic left behind."""
    yield from clean_partitions(command, left.name, list(left.partitions.values()))
    if left.topic_id is not None:
        yield [Delete(znodes.topic(left.name))]


def clean_partitions(command: Command, topic: str, unfinished: Collection[StoredPartition]) -> Procedure[None]:
    """Close and forget partitions that were announced and never assigned.

    First the announced replicas are replaced by the empty list; otherwise a broker that starts between its close
    request and the end of the announcement would create its replica again. The paths are deleted once the live brokers
    have closed theirs: a broker that leads such a partition would otherwise go on leading beside the leader of the next
    attempt. A broker that does not close its replica in time does not block the clean-up.
    """
    by_index = {partition.index: partition for partition in unfinished}
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
                (StateChange.CLOSE_REPLICA, partition, broker_id)
                for index, partition in which.items()
                for broker_id in _holders(by_index[index], brokers)
            ],
        )
        until = command.now() + command.timeout_s
        yield from await_consumed(command, {path: broker_id for _, broker_id, path in sent})
        yield Await([znodes.leader(partition) for partition in which.values()], until)
        yield from delete_trees([znodes.partition(partition) for partition in which.values()])
        yield from run([Delete(znodes.reassigned(partition)) for partition in which.values()])
    if by_index:
        yield from forget_empty(topic)


def _holders(of: StoredPartition, brokers: Collection[int]) -> Collection[int]:
    """Return the brokers that may have a replica: any broker if an interrupted clean-up or deletion left the empty
    list."""
    return brokers if of.is_being_deleted else sorted(of.named)


def _forget_creations(topic: StoredTopic) -> Steps[None]:
    """Delete the announcements of live partitions, left by a creation that was interrupted at its end.

    They name the same replicas as the assignment. An announcement with other replicas is a reassignment or a deletion,
    and is left alone.
    """
    made = [
        partition
        for partition in topic.live.values()
        if partition.marker is not None and partition.marker.replicas == partition.replicas
    ]
    if made:
        yield [
            Delete(znodes.reassigned(TopicPartition(topic.name, partition.index)), partition.marker.version)
            for partition in made
            if partition.marker is not None
        ]
        yield from forget_empty(topic.name)
