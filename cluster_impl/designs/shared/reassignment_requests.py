"""The checks of AlterPartitionReassignments and ListPartitionReassignments that are the same in every design.

A check raises RequestError, which carries the Kafka error code and the message for the client.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

TopicReassigned = m.AlterPartitionReassignmentsResponse.ReassignableTopicResponse
PartitionReassigned = m.AlterPartitionReassignmentsResponse.ReassignablePartitionResponse
TopicMoving = m.ListPartitionReassignmentsResponse.OngoingTopicReassignment
PartitionMoving = m.ListPartitionReassignmentsResponse.OngoingPartitionReassignment


def requested_targets(
    request: m.AlterPartitionReassignmentsRequest,
) -> tuple[dict[TopicPartition, tuple[int, ...] | None], set[TopicPartition]]:
    """Return the target replicas of each partition, None for a cancellation, and the partitions named twice."""
    targets: dict[TopicPartition, tuple[int, ...] | None] = {}
    twice: set[TopicPartition] = set()
    for topic in request.topics:
        for partition in topic.partitions:
            at = TopicPartition(topic.name, partition.partition_index)
            if at in targets:
                twice.add(at)
            targets[at] = None if partition.replicas is None else tuple(partition.replicas)
    return targets, twice


def named_twice() -> RequestError:
    return RequestError(Error.INVALID_REQUEST, "The request names this partition more than once.")


def check_target(
    target: Sequence[int], origin: Sequence[int], brokers: Collection[int], state: str, *, same_factor: bool
) -> None:
    """Raise RequestError unless a partition with the replicas `origin` can get those of `target`.

    New ones have to be among `brokers`, which are in this `state`. With `same_factor` their number must not change.
    """
    if not target or len(set(target)) != len(target) or min(target) < 0:
        raise RequestError(Error.INVALID_REPLICA_ASSIGNMENT, f"{list(target)} is not a list of different brokers.")
    away = [replica for replica in target if replica not in origin and replica not in brokers]
    if away:
        message = f"Broker {', '.join(map(str, away))} is not {state} and cannot take a replica."
        raise RequestError(Error.INVALID_REPLICA_ASSIGNMENT, message)
    if same_factor and len(target) != len(origin):
        message = f"The number of replicas would change from {len(origin)} to {len(target)}."
        raise RequestError(Error.INVALID_REPLICATION_FACTOR, message)


def nothing_to_cancel() -> RequestError:
    return RequestError(Error.NO_REASSIGNMENT_IN_PROGRESS, "No reassignment of this partition is under way.")


def none_in_sync(replicas: Sequence[int]) -> RequestError:
    """Return the error of a change that would leave only replicas that lack acknowledged records."""
    message = f"None of the replicas {list(replicas)} that would remain is in sync."
    return RequestError(Error.INVALID_REPLICA_ASSIGNMENT, message)


def reassigned(
    request: m.AlterPartitionReassignmentsRequest, refused: Mapping[TopicPartition, RequestError]
) -> m.AlterPartitionReassignmentsResponse:
    """Return the response; partitions that are not in `refused` were accepted."""
    topics = []
    for topic in request.topics:
        partitions = []
        for partition in topic.partitions:
            error = refused.get(TopicPartition(topic.name, partition.partition_index))
            code, message = (Error.NONE, None) if error is None else (error.error, str(error))
            partitions.append(
                PartitionReassigned(partition_index=partition.partition_index, error_code=code, error_message=message)
            )
        topics.append(TopicReassigned(name=topic.name, partitions=partitions))
    return m.AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change, responses=topics
    )


def moving(
    request: m.ListPartitionReassignmentsRequest,
    under_way: Mapping[TopicPartition, tuple[Sequence[int], Sequence[int], Sequence[int]]],
) -> m.ListPartitionReassignmentsResponse:
    """Return the reassignments that are asked for. `under_way` has all replicas, the added and the removed ones."""
    wanted = None if request.topics is None else {topic.name: set(topic.partition_indexes) for topic in request.topics}
    topics: dict[str, list[PartitionMoving]] = {}
    for at, (replicas, adding, removing) in under_way.items():
        if wanted is None or at.partition in wanted.get(at.topic, ()):
            topics.setdefault(at.topic, []).append(
                PartitionMoving(
                    partition_index=at.partition,
                    replicas=list(replicas),
                    adding_replicas=list(adding),
                    removing_replicas=list(removing),
                )
            )
    return m.ListPartitionReassignmentsResponse(
        topics=[TopicMoving(name=name, partitions=partitions) for name, partitions in topics.items()]
    )
