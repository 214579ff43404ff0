"""CreateTopics and DeleteTopics.

Each topic of a request is decided on its own; the records of all that are accepted form one batch. A created topic is a
Topic record, a Config record for each of its settings, and a Partition record for each partition, led by the first of
its replicas that is active, with an ISR of all that are.

Active are those only whom this controller told so. A broker that an earlier controller registered may not know of that
epoch. If its process came back with an older one, what began under the epoch would wait for a process that never was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from cluster_impl.designs.most_partitions import problem_with_number
from cluster_impl.designs.quorum.controller.placement import place
from cluster_impl.designs.quorum.controller.state import ControllerState, Outcome
from cluster_impl.designs.quorum.image import TOPIC_RESOURCE, MetadataRecord
from cluster_impl.designs.topic_config import problem_with
from cluster_impl.designs.topic_name import problem_with_name
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

CreatableTopic = m.CreateTopicsRequest.CreatableTopic
CreateResult = m.CreateTopicsResponse.CreatableTopicResult
CreatedConfig = m.CreateTopicsResponse.CreatableTopicConfigs
DeleteResult = m.DeleteTopicsResponse.DeletableTopicResult

NO_TOPIC_ID = UUID(int=0)
METADATA_TOPIC = "__kafka_metadata"


@dataclass(frozen=True, slots=True)
class TopicDefaults:
    """What a topic gets whose creation says -1."""

    partitions: int
    replication_factor: int


class Refused(Exception):
    """A topic that cannot be created or deleted: Kafka's error code, and a sentence for the client."""

    def __init__(self, error: Error, sentence: str) -> None:
        super().__init__(sentence)
        self.error = error


class NotHeardYet(Exception):
    """Too few brokers are active, but others may be, of whom this controller has not heard. Ask again soon."""


def create_topics(
    state: ControllerState,
    request: m.CreateTopicsRequest,
    now: float,
    defaults: TopicDefaults,
    new_topic_id: Callable[[], UUID],
) -> Outcome[m.CreateTopicsResponse]:
    """Decide a whole request. `new_topic_id` makes ids that were never used. Raises NotHeardYet."""
    if problem := problem_with_number(request, defaults.partitions):
        return _too_many(request, problem)
    named = Counter(topic.name for topic in request.topics)
    results: list[CreateResult] = []
    records: list[MetadataRecord] = []
    first_place = state.image.partitions_created
    for topic in request.topics:
        try:
            if named[topic.name] > 1:
                raise Refused(Error.INVALID_REQUEST, f"The request names topic {topic.name} more than once.")
            _check_name(state, topic.name)
            _check_configs(topic)
            layout = _layout(state, topic, now, defaults, first_place)
            topic_id = new_topic_id()
            epoch = state.image.first_leader_epoch(topic.name)
            partitions = [
                _partition(state, topic_id, index, replicas, epoch, now) for index, replicas in enumerate(layout)
            ]
        except Refused as refused:
            results.append(CreateResult(name=topic.name, error_code=refused.error, error_message=str(refused)))
            continue
        first_place += len(layout)
        records += [m.TopicRecord(name=topic.name, topic_id=topic_id), *_configs(topic), *partitions]
        results.append(_created(topic, topic_id, layout))
    return Outcome(m.CreateTopicsResponse(topics=results), () if request.validate_only else records)


def delete_topics(
    state: ControllerState, request: m.DeleteTopicsRequest, version: int
) -> Outcome[m.DeleteTopicsResponse]:
    """Decide a whole request. From version 6 on a topic is named by its name or by its id."""
    asked = (
        [(topic.name, topic.topic_id) for topic in request.topics]
        if version >= 6
        else [(name, NO_TOPIC_ID) for name in request.topic_names]
    )
    results: list[DeleteResult] = []
    doomed: dict[UUID, m.DeleteTopicRecord] = {}
    for name, topic_id in asked:
        try:
            found = _find(state, name, topic_id)
            if found in doomed:
                raise Refused(Error.INVALID_REQUEST, "The request names this topic more than once.")
        except Refused as refused:
            results.append(
                DeleteResult(name=name, topic_id=topic_id, error_code=refused.error, error_message=str(refused))
            )
            continue
        doomed[found] = m.DeleteTopicRecord(name=found)
        results.append(DeleteResult(name=state.image.topic_names[found], topic_id=found))
    return Outcome(m.DeleteTopicsResponse(responses=results), list(doomed.values()))


def _check_name(state: ControllerState, name: str) -> None:
    problem = problem_with_name(name)
    if problem:
        raise Refused(Error.INVALID_TOPIC_EXCEPTION, problem)
    if name == METADATA_TOPIC:
        raise Refused(Error.INVALID_TOPIC_EXCEPTION, f"{name} belongs to the controllers.")
    if name in state.image.topics:
        raise Refused(Error.TOPIC_ALREADY_EXISTS, f"Topic {name} already exists.")


def _check_configs(topic: CreatableTopic) -> None:
    for config in topic.configs:
        problem = problem_with(config.name, config.value)
        if problem:
            raise Refused(Error.INVALID_CONFIG, problem)


def _too_many(request: m.CreateTopicsRequest, sentence: str) -> Outcome[m.CreateTopicsResponse]:
    results = [
        CreateResult(name=topic.name, error_code=Error.POLICY_VIOLATION, error_message=sentence)
        for topic in request.topics
    ]
    return Outcome(m.CreateTopicsResponse(topics=results))


def _layout(
    state: ControllerState, topic: CreatableTopic, now: float, defaults: TopicDefaults, first_place: int
) -> list[list[int]]:
    """The replicas of each partition: as the request assigns them, or placed here."""
    if topic.assignments:
        return _assigned(state, topic)
    partitions = defaults.partitions if topic.num_partitions == -1 else topic.num_partitions
    factor = defaults.replication_factor if topic.replication_factor == -1 else topic.replication_factor
    if partitions < 1:
        raise Refused(Error.INVALID_PARTITIONS, f"A topic cannot have {partitions} partitions.")
    available = [broker_id for broker_id in state.image.brokers if state.leases.may_lead(broker_id, now)]
    if not 1 <= factor <= len(available):
        raise Refused(
            Error.INVALID_REPLICATION_FACTOR,
            f"Replication factor {factor} cannot be met: {len(available)} brokers are active.",
        )
    active = [broker_id for broker_id in available if state.leases.is_active(broker_id, now)]
    if factor > len(active):
        raise NotHeardYet
    return place(active, partitions, factor, first_place)


def _assigned(state: ControllerState, topic: CreatableTopic) -> list[list[int]]:
    if topic.num_partitions != -1 or topic.replication_factor != -1:
        raise Refused(
            Error.INVALID_REQUEST,
            "With an assignment of replicas the number of partitions and the replication factor must be -1.",
        )
    layout = {assignment.partition_index: assignment.broker_ids for assignment in topic.assignments}
    if len(layout) != len(topic.assignments) or set(layout) != set(range(len(layout))):
        raise Refused(
            Error.INVALID_REPLICA_ASSIGNMENT, "The assigned partitions must be numbered from 0 on, each one once."
        )
    for index, replicas in layout.items():
        unknown = sorted(set(replicas) - set(state.image.brokers))
        if not replicas or len(set(replicas)) != len(replicas) or unknown:
            raise Refused(
                Error.INVALID_REPLICA_ASSIGNMENT,
                f"Partition {index} cannot have the replicas {replicas}: they must be different registered brokers.",
            )
    if len({len(replicas) for replicas in layout.values()}) > 1:
        raise Refused(
            Error.INVALID_REPLICA_ASSIGNMENT, "All partitions of a topic must have the same number of replicas."
        )
    return [layout[index] for index in range(len(layout))]


def _partition(
    state: ControllerState, topic_id: UUID, index: int, replicas: list[int], epoch: int, now: float
) -> m.PartitionRecord:
    isr = [replica for replica in replicas if state.leases.is_active(replica, now)]
    if not isr:
        if any(state.leases.may_lead(replica, now) for replica in replicas):
            raise NotHeardYet
        raise Refused(
            Error.INVALID_REPLICA_ASSIGNMENT, f"None of the brokers {replicas} of partition {index} is active."
        )
    return m.PartitionRecord(
        partition_id=index, topic_id=topic_id, replicas=replicas, isr=isr, leader=isr[0], leader_epoch=epoch
    )


def _configs(topic: CreatableTopic) -> list[m.ConfigRecord]:
    return [
        m.ConfigRecord(
            resource_type=TOPIC_RESOURCE, resource_name=topic.name, name=config.name, value=config.value or ""
        )
        for config in topic.configs
    ]


def _created(topic: CreatableTopic, topic_id: UUID, layout: list[list[int]]) -> CreateResult:
    configs = [
        m.CreateTopicsResponse.CreatableTopicConfigs(name=config.name, value=config.value) for config in topic.configs
    ]
    return CreateResult(
        name=topic.name,
        topic_id=topic_id,
        num_partitions=len(layout),
        replication_factor=len(layout[0]),
        configs=configs,
    )


def _find(state: ControllerState, name: str | None, topic_id: UUID) -> UUID:
    if name is not None:
        if topic_id != NO_TOPIC_ID:
            raise Refused(Error.INVALID_REQUEST, "A topic is named by its name or by its id, not by both.")
        if name not in state.image.topics:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}.")
        return state.image.topics[name].id
    if topic_id not in state.image.topic_names:
        raise Refused(Error.UNKNOWN_TOPIC_ID, f"There is no topic with the id {topic_id}.")
    return topic_id
