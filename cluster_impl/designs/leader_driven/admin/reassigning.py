"""A partition is given other replicas: the command writes them down, and the leader does the rest ("On reassignment of
partitions").

There is no way back and no change of mind while a reassignment is under way: its leader may be between any two of its
steps, about to assign the partition to replicas that a way back would have closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cluster_impl.coordination.steps import Present, Steps
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.batches import announce
from cluster_impl.designs.leader_driven.admin.naming import check_name
from cluster_impl.designs.leader_driven.admin.reading import Partition, Topic, live_brokers, read_topic
from cluster_impl.designs.leader_driven.admin.seam import Await, Command, Failed, Procedure
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire.errors import Error

Wanted = Mapping[int, Sequence[int] | None]
"""By partition index the replicas that it shall have, the preferred one first; None calls off what is under way."""


def reassign(command: Command, topic: str, wanted: Wanted, *, same_factor: bool = False) -> Steps[dict[int, Failed]]:
    """Write down what is accepted; by index why the others are not. `same_factor`: no other number of replicas. Raises
    Failed if no topic can have the name."""
    check_name(topic)
    found = yield from read_topic(topic)
    live = frozenset((yield from live_brokers()))
    refused: dict[int, Failed] = {}
    accepted: dict[int, Sequence[int]] = {}
    for index, replicas in wanted.items():
        try:
            partition = _partition(found, index)
            if _is_new(partition, _checked(partition, replicas, live, same_factor)):
                accepted[index] = replicas or ()
        except Failed as failed:
            refused[index] = failed
    if accepted:
        yield from announce(topic, accepted)
    return refused


def _partition(topic: Topic, index: int) -> Partition:
    partition = topic.live.get(index)
    if topic.topic_id is None or partition is None:
        raise Failed(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {index} of topic {topic.name}.")
    if partition.is_being_deleted:
        raise Failed(Error.UNKNOWN_TOPIC_OR_PARTITION, f"Partition {index} of topic {topic.name} is being deleted.")
    return partition


def _checked(
    partition: Partition, replicas: Sequence[int] | None, live: frozenset[int], same_factor: bool
) -> tuple[int, ...]:
    assigned = partition.replicas or ()
    if replicas is None:
        if partition.marker is None:
            raise Failed(Error.NO_REASSIGNMENT_IN_PROGRESS, "No reassignment of this partition is under way.")
        raise Failed(
            Error.INVALID_REQUEST, "A reassignment that is under way cannot be called off; wait for it to complete."
        )
    if not replicas or len(set(replicas)) != len(replicas) or min(replicas) < 0:
        raise Failed(Error.INVALID_REPLICA_ASSIGNMENT, f"{list(replicas)} is no list of different brokers.")
    away = sorted(set(replicas) - set(assigned) - live)
    if away:
        raise Failed(
            Error.INVALID_REPLICA_ASSIGNMENT,
            f"Broker {', '.join(map(str, away))} is not live, and can take no replica.",
        )
    if same_factor and len(replicas) != len(assigned):
        raise Failed(
            Error.INVALID_REPLICATION_FACTOR,
            f"The number of replicas would change from {len(assigned)} to {len(replicas)}.",
        )
    return tuple(replicas)


def _is_new(partition: Partition, replicas: tuple[int, ...]) -> bool:
    """Whether there is anything to be written. Raises Failed if something else is under way."""
    if partition.marker is None:
        return replicas != partition.replicas
    if partition.marker.replicas != replicas:
        raise Failed(
            Error.REASSIGNMENT_IN_PROGRESS,
            f"The partition is being moved to {list(partition.marker.replicas)}; wait for that to complete.",
        )
    return False


def await_moved(command: Command, topic: str, indexes: Sequence[int]) -> Procedure[None]:
    """Until the leaders are done with these partitions. Raises Failed when the time is over."""
    paths = {znodes.reassigned(TopicPartition(topic, index)): index for index in indexes}
    outcomes = yield Await(list(paths), command.now() + command.patience)
    left = [paths[path] for path, outcome in zip(paths, outcomes, strict=True) if isinstance(outcome, Present)]
    if left:
        sentence = f"Partition {', '.join(map(str, left))} of topic {topic} is still being moved; its leader goes on."
        raise Failed(Error.REQUEST_TIMED_OUT, sentence)
