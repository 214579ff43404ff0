"""The checks of CreatePartitions and ElectLeaders that are the same in every design.

A check raises RequestError, which carries the Kafka error code and the message for the client.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import IntEnum

from fencepost.cluster_impl.designs.shared.topic_requests import (
    MAX_PARTITIONS,
    RequestError,
    check_assigned_brokers,
    unequal_replication,
)
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

MoreTopic = m.CreatePartitionsRequest.CreatePartitionsTopic
MoreResult = m.CreatePartitionsResponse.CreatePartitionsTopicResult
TopicElected = m.ElectLeadersResponse.ReplicaElectionResult
PartitionElected = m.ElectLeadersResponse.PartitionResult


class Election(IntEnum):
    """The types of elections of ElectLeaders (KIP-460)."""

    PREFERRED = 0
    UNCLEAN = 1


# CreatePartitions


def check_added_count(request: m.CreatePartitionsRequest, present: Callable[[str], int]) -> None:
    """Raise RequestError if the request adds more than MAX_PARTITIONS; `present` returns a topic's number of them."""
    added = sum(max(0, topic.count - present(topic.name)) for topic in request.topics)
    if added > MAX_PARTITIONS:
        message = f"One request can add {MAX_PARTITIONS} partitions, and this one asks for {added}."
        raise RequestError(Error.POLICY_VIOLATION, message)


def requested_addition(topic: MoreTopic, present: int) -> int:
    """Return how many partitions a topic with `present` ones gets. Raise RequestError if none."""
    if topic.count <= present:
        message = f"Topic {topic.name} has {present} partitions already; {topic.count} is not more than that."
        raise RequestError(Error.INVALID_PARTITIONS, message)
    if topic.assignments is not None and len(topic.assignments) != topic.count - present:
        message = f"{topic.count - present} partitions are new, but the assignment has {len(topic.assignments)}."
        raise RequestError(Error.INVALID_REPLICA_ASSIGNMENT, message)
    return topic.count - present


def assigned_addition(topic: MoreTopic, factor: int, brokers: Collection[int], state: str) -> list[tuple[int, ...]]:
    """Return the replicas of each new partition as the request assigns them. Raise RequestError unless each has
    `factor` different `brokers`; `state` is their adjective in the message."""
    assignment = [tuple(partition.broker_ids) for partition in topic.assignments or ()]
    check_assigned_brokers(assignment, brokers, state)
    if any(len(replicas) != factor for replicas in assignment):
        raise unequal_replication()
    return assignment


def too_few_brokers(topic: str, factor: int, brokers: int, state: str) -> RequestError:
    message = f"Replication factor {factor} of topic {topic} cannot be met: {brokers} brokers are {state}."
    return RequestError(Error.INVALID_REPLICATION_FACTOR, message)


# Elections


def check_election_type(request: m.ElectLeadersRequest) -> Election:
    """Return the type of the elections. Raise RequestError if there is no such type."""
    try:
        return Election(request.election_type)
    except ValueError:
        message = f"{request.election_type} is no election type: preferred is 0, unclean is 1."
        raise RequestError(Error.INVALID_REQUEST, message) from None


def requested_elections(
    request: m.ElectLeadersRequest, everything: Iterable[TopicPartition]
) -> tuple[list[TopicPartition], bool]:
    """Return the partitions to elect leaders for, and whether the request names them: without names it means all."""
    if request.topic_partitions is None:
        return list(everything), False
    named = [TopicPartition(topic.topic, index) for topic in request.topic_partitions for index in topic.partitions]
    return list(dict.fromkeys(named)), True


def elected(outcomes: Mapping[TopicPartition, RequestError | None], *, named: bool) -> m.ElectLeadersResponse:
    """Return the response. Of a request for all partitions, those without a need of an election are left out."""
    topics: dict[str, list[PartitionElected]] = {}
    for at, error in outcomes.items():
        if error is not None and error.error is Error.ELECTION_NOT_NEEDED and not named:
            continue
        code, message = (Error.NONE, None) if error is None else (error.error, str(error))
        topics.setdefault(at.topic, []).append(
            PartitionElected(partition_id=at.partition, error_code=code, error_message=message)
        )
    return m.ElectLeadersResponse(
        replica_election_results=[
            TopicElected(topic=name, partition_result=partitions) for name, partitions in topics.items()
        ]
    )


def unknown_partition(at: TopicPartition) -> RequestError:
    return RequestError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {at}.")


def election_not_needed(leader: int) -> RequestError:
    return RequestError(Error.ELECTION_NOT_NEEDED, f"Broker {leader} leads already.")


def preferred_not_available(preferred: int) -> RequestError:
    message = f"The preferred replica {preferred} is not in sync, or its broker is not active."
    return RequestError(Error.PREFERRED_LEADER_NOT_AVAILABLE, message)
