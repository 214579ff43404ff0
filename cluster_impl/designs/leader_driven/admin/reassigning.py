"""Reassigning partitions: the command writes the target replicas, the leaders do the rest ("On reassignment of
partitions").

A reassignment under way can be neither cancelled nor changed: its leader may be between any two steps, about to assign
the partition to replicas that a cancellation would have closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.cluster_impl.coordination.steps import Present, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.batches import announce
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Await, Command, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import (
    StoredPartition,
    StoredTopic,
    live_brokers,
    read_topic,
)
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError, check_name
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error

Wanted = Mapping[int, Sequence[int] | None]
"""The target replicas by partition index, the preferred replica first; None cancels the reassignment."""


def reassign(
    command: Command, topic: str, wanted: Wanted, *, same_factor: bool = False
) -> Steps[dict[int, RequestError]]:
    """Write the accepted targets; return the errors of the others by index.

    With `same_factor`, the number of replicas must not change. Raises RequestError if the topic name is invalid.
    """
    check_name(topic)
    found = yield from read_topic(topic)
    live = frozenset((yield from live_brokers()))
    refused: dict[int, RequestError] = {}
    accepted: dict[int, Sequence[int]] = {}
    for index, replicas in wanted.items():
        try:
            partition = _partition(found, index)
            if _is_new(partition, _checked(partition, replicas, live, same_factor)):
                accepted[index] = replicas or ()
        except RequestError as failed:
            refused[index] = failed
    if accepted:
        yield from announce(topic, accepted)
    return refused


def _partition(topic: StoredTopic, index: int) -> StoredPartition:
    partition = topic.live.get(index)
    if topic.topic_id is None or partition is None:
        raise RequestError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {index} of topic {topic.name}.")
    if partition.is_being_deleted:
        raise RequestError(
            Error.UNKNOWN_TOPIC_OR_PARTITION, f"Partition {index} of topic {topic.name} is being deleted."
        )
    return partition


def _checked(
    partition: StoredPartition, replicas: Sequence[int] | None, live: frozenset[int], same_factor: bool
) -> tuple[int, ...]:
    assigned = partition.replicas or ()
    if replicas is None:
        if partition.marker is None:
            raise RequestError(Error.NO_REASSIGNMENT_IN_PROGRESS, "No reassignment of this partition is under way.")
        raise RequestError(
            Error.INVALID_REQUEST, "A reassignment that is under way cannot be cancelled; wait for it to complete."
        )
    if not replicas or len(set(replicas)) != len(replicas) or min(replicas) < 0:
        raise RequestError(Error.INVALID_REPLICA_ASSIGNMENT, f"{list(replicas)} is not a list of different brokers.")
    away = sorted(set(replicas) - set(assigned) - live)
    if away:
        raise RequestError(
            Error.INVALID_REPLICA_ASSIGNMENT,
            f"Broker {', '.join(map(str, away))} is not live and cannot take a replica.",
        )
    if same_factor and len(replicas) != len(assigned):
        raise RequestError(
            Error.INVALID_REPLICATION_FACTOR,
            f"The number of replicas would change from {len(assigned)} to {len(replicas)}.",
        )
    return tuple(replicas)


def _is_new(partition: StoredPartition, replicas: tuple[int, ...]) -> bool:
    """Return True if there is anything to write. Raises RequestError if another reassignment is under way."""
    if partition.marker is None:
        return replicas != partition.replicas
    if partition.marker.replicas != replicas:
        raise RequestError(
            Error.REASSIGNMENT_IN_PROGRESS,
            f"The partition is being moved to {list(partition.marker.replicas)}; wait for that to complete.",
        )
    return False


def await_moved(command: Command, topic: str, indexes: Sequence[int]) -> Procedure[None]:
    """Wait until the leaders have reassigned these partitions. Raises RequestError after the timeout."""
    paths = {znodes.reassigned(TopicPartition(topic, index)): index for index in indexes}
    outcomes = yield Await(list(paths), command.now() + command.timeout_s)
    left = [paths[path] for path, outcome in zip(paths, outcomes, strict=True) if isinstance(outcome, Present)]
    if left:
        message = f"Partition {', '.join(map(str, left))} of topic {topic} is still being moved; its leader continues."
        raise RequestError(Error.REQUEST_TIMED_OUT, message)
