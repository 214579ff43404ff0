"""The checks of CreateTopics, DeleteTopics and CreatePartitions that are the same in every design, and their answers.

A check raises RequestError, which carries the Kafka error code and the message for the client.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from uuid import UUID

from fencepost.cluster_impl.api.topic_names import problem_with_name
from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.shared.topic_settings import problem_with
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

CreatableTopic = m.CreateTopicsRequest.CreatableTopic
CreateResult = m.CreateTopicsResponse.CreatableTopicResult
DeleteResult = m.DeleteTopicsResponse.DeletableTopicResult

NO_TOPIC_ID = UUID(int=0)
FIRST_DELETE_VERSION_WITH_IDS = 6

MAX_PARTITIONS = 10_000
"""New partitions in one request, over all of its topics; the limit of Kafka's KRaft controller."""

USE_DEFAULT = -1
"""In CreateTopics: the number of partitions, or the replication factor, of the broker's configuration."""


class RequestError(Exception):
    """A request, or one topic of it, that cannot be carried out: Kafka's error code, and a message for the client."""

    def __init__(self, error: Error, message: str) -> None:
        super().__init__(message)
        self.error = error


def check_partition_count(request: m.CreateTopicsRequest, defaults: TopicDefaults) -> None:
    """Raise RequestError if the request creates more than MAX_PARTITIONS. An invalid number counts as none.

    A controller that creates millions of partitions does nothing else meanwhile.
    """
    requested = sum(_partitions_of(topic, defaults) for topic in request.topics)
    if requested > MAX_PARTITIONS:
        message = f"One request can create {MAX_PARTITIONS} partitions, and this one asks for {requested}."
        raise RequestError(Error.POLICY_VIOLATION, message)


def _partitions_of(topic: CreatableTopic, defaults: TopicDefaults) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return defaults.partitions if topic.num_partitions == USE_DEFAULT else max(0, topic.num_partitions)


def check_named_once(name: str, occurrences: Counter[str]) -> None:
    """Raise RequestError if the request contains this topic twice."""
    if occurrences[name] > 1:
        raise RequestError(Error.INVALID_REQUEST, f"The request names topic {name} more than once.")


def check_name(name: str) -> None:
    """Raise RequestError if no topic can have this name."""
    if problem := problem_with_name(name):
        raise RequestError(Error.INVALID_TOPIC_EXCEPTION, problem)


def topic_exists(name: str) -> RequestError:
    return RequestError(Error.TOPIC_ALREADY_EXISTS, f"Topic {name} already exists.")


def check_settings(settings: Iterable[tuple[str, str | None]], switches: Collection[str] = ()) -> None:
    """Raise RequestError for the first setting that a topic cannot have. `switches` are true or false."""
    for name, value in settings:
        if problem := problem_with(name, value, switches):
            raise RequestError(Error.INVALID_CONFIG, problem)


def requested_counts(topic: CreatableTopic, defaults: TopicDefaults) -> tuple[int, int]:
    """Return the number of partitions and the replication factor that a topic without an assignment shall have."""
    partitions = defaults.partitions if topic.num_partitions == USE_DEFAULT else topic.num_partitions
    is_default = topic.replication_factor == USE_DEFAULT
    return partitions, defaults.replication_factor if is_default else topic.replication_factor


def check_counts(partitions: int, replication_factor: int, brokers: int, state: str) -> None:
    """Raise RequestError if so many `brokers` cannot hold such a topic; `state` is their adjective in the message."""
    if partitions < 1:
        raise RequestError(Error.INVALID_PARTITIONS, f"A topic cannot have {partitions} partitions.")
    if not 1 <= replication_factor <= brokers:
        message = f"Replication factor {replication_factor} cannot be met: {brokers} brokers are {state}."
        raise RequestError(Error.INVALID_REPLICATION_FACTOR, message)


def requested_assignment(topic: CreatableTopic) -> list[tuple[int, ...]]:
    """Return the replicas of each partition, by index, as the request assigns them.

    Raise RequestError if the request names numbers as well, or if the partitions are not numbered from 0 on.
    """
    if topic.num_partitions != USE_DEFAULT or topic.replication_factor != USE_DEFAULT:
        raise RequestError(
            Error.INVALID_REQUEST,
            "With an assignment of replicas the number of partitions and the replication factor must be -1.",
        )
    replicas = {assignment.partition_index: tuple(assignment.broker_ids) for assignment in topic.assignments}
    if len(replicas) != len(topic.assignments) or set(replicas) != set(range(len(replicas))):
        raise RequestError(
            Error.INVALID_REPLICA_ASSIGNMENT, "The assigned partitions must be numbered from 0 on, each one once."
        )
    return [replicas[index] for index in range(len(replicas))]


def check_assigned_brokers(assignment: Sequence[Sequence[int]], brokers: Collection[int], state: str) -> None:
    """Raise RequestError unless each partition has different `brokers`, and all have the same number of replicas."""
    known = set(brokers)
    for index, replicas in enumerate(assignment):
        if not replicas or len(set(replicas)) != len(replicas) or not known.issuperset(replicas):
            message = (
                f"Partition {index} cannot have the replicas {list(replicas)}: they must be different {state} brokers."
            )
            raise RequestError(Error.INVALID_REPLICA_ASSIGNMENT, message)
    if len({len(replicas) for replicas in assignment}) > 1:
        raise unequal_replication()


def unequal_replication() -> RequestError:
    message = "All partitions of a topic must have the same number of replicas."
    return RequestError(Error.INVALID_REPLICA_ASSIGNMENT, message)


def created(
    name: str, topic_id: UUID, layout: Sequence[Sequence[int]], settings: Iterable[tuple[str, str | None]]
) -> CreateResult:
    """Return the result of a topic that was created, or would be; `layout` holds the replicas of each partition."""
    return CreateResult(
        name=name,
        topic_id=topic_id,
        num_partitions=len(layout),
        replication_factor=len(layout[0]),
        configs=[m.CreateTopicsResponse.CreatableTopicConfigs(name=key, value=value) for key, value in settings],
    )


def not_created(name: str, error: RequestError) -> CreateResult:
    return CreateResult(name=name, error_code=error.error, error_message=str(error))


def requested_deletions(request: m.DeleteTopicsRequest, version: int) -> list[tuple[str | None, UUID]]:
    """Return name and id of each topic to delete, one of them given. Before version 6 a request has names only."""
    if version >= FIRST_DELETE_VERSION_WITH_IDS:
        return [(topic.name, topic.topic_id) for topic in request.topics]
    return [(name, NO_TOPIC_ID) for name in request.topic_names]


def topics_to_delete(
    requested: Iterable[tuple[str | None, UUID]], names: Callable[[UUID], str | None]
) -> list[str | RequestError]:
    """Return the name of each topic that is meant, or why there is none. One that is named twice is not deleted."""
    found: list[str | RequestError] = []
    for name, topic_id in requested:
        try:
            found.append(topic_to_delete(name, topic_id, names))
        except RequestError as error:
            found.append(error)
    occurrences = Counter(each for each in found if isinstance(each, str))
    return [named_again() if isinstance(each, str) and occurrences[each] > 1 else each for each in found]


def topic_to_delete(name: str | None, topic_id: UUID, names: Callable[[UUID], str | None]) -> str:
    """Return the name of the topic that is meant; `names` looks up an id. A name is returned as it is.

    Raise RequestError if both are given, or if the id is unknown.
    """
    if name is not None:
        if topic_id != NO_TOPIC_ID:
            raise RequestError(Error.INVALID_REQUEST, "A topic is named by its name or by its id, not by both.")
        return name
    found = names(topic_id)
    if found is None:
        raise RequestError(Error.UNKNOWN_TOPIC_ID, f"There is no topic with the id {topic_id}.")
    return found


def unknown_topic(name: str) -> RequestError:
    return RequestError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}.")


def named_again() -> RequestError:
    return RequestError(Error.INVALID_REQUEST, "The request names this topic more than once.")


def not_deleted(name: str | None, topic_id: UUID, error: RequestError) -> DeleteResult:
    return DeleteResult(name=name, topic_id=topic_id, error_code=error.error, error_message=str(error))
