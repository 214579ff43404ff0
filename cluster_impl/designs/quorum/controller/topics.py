"""CreateTopics and DeleteTopics.

Each topic of a request is decided on its own; the records of all accepted topics form one batch. A created topic is a
Topic record, a Config record for each of its settings, and a Partition record for each partition, with all active
replicas as its ISR and the first of them as its leader.

A deletion is two batches (KIP-631, TopicRecord): the topic is marked as being deleted, so that no broker serves it any
more and no request changes it, and once that is committed a DeleteTopic record removes it with its replicas. A new
active controller completes the deletions that it finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from uuid import UUID

from fencepost.cluster_impl.api.topic_names import collision
from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.quorum.controller.placing import available, new_partition, placed
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.image import TOPIC_RESOURCE, MetadataImage, MetadataRecord
from fencepost.cluster_impl.designs.quorum.raft import metadata_topic
from fencepost.cluster_impl.designs.shared.topic_requests import (
    CreatableTopic,
    CreateResult,
    DeleteResult,
    RequestError,
    check_assigned_brokers,
    check_counts,
    check_name,
    check_named_once,
    check_partition_count,
    check_settings,
    created,
    not_created,
    not_deleted,
    requested_assignment,
    requested_counts,
    requested_deletions,
    topic_exists,
    topics_to_delete,
    unknown_topic,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error


def create_topics(
    state: ControllerState,
    request: m.CreateTopicsRequest,
    now: float,
    defaults: TopicDefaults,
    new_topic_id: Callable[[], UUID],
) -> ControllerResult[m.CreateTopicsResponse]:
    """Decide a whole request. `new_topic_id` returns ids that were never used. Raises NotHeardYet."""
    try:
        check_partition_count(request, defaults)
    except RequestError as error:
        return ControllerResult(
            m.CreateTopicsResponse(topics=[not_created(topic.name, error) for topic in request.topics])
        )
    occurrences = Counter(topic.name for topic in request.topics)
    results: list[CreateResult] = []
    records: list[MetadataRecord] = []
    first_place = state.image.partitions_created
    for topic in request.topics:
        try:
            check_named_once(topic.name, occurrences)
            _check_absent(state, topic.name)
            settings = [(config.name, config.value) for config in topic.configs]
            check_settings(settings)
            layout = _layout(state, topic, now, defaults, first_place)
            topic_id = new_topic_id()
            epoch = state.image.first_leader_epoch()
            partitions = [
                new_partition(state, topic_id, index, replicas, epoch, now) for index, replicas in enumerate(layout)
            ]
        except RequestError as error:
            results.append(not_created(topic.name, error))
            continue
        first_place += len(layout)
        records += [m.TopicRecord(name=topic.name, topic_id=topic_id), *_configs(topic), *partitions]
        results.append(created(topic.name, topic_id, layout, settings))
    return ControllerResult(m.CreateTopicsResponse(topics=results), () if request.validate_only else records)


def delete_topics(
    state: ControllerState, request: m.DeleteTopicsRequest, version: int
) -> ControllerResult[m.DeleteTopicsResponse]:
    """Mark the topics of a request as being deleted; `complete_deletions` removes them.

    From version 6 on, a topic is named by its name or by its id. A deletion that has begun is asked for again without
    an error: the first request may have lost its response.
    """
    results: list[DeleteResult] = []
    deletions: dict[UUID, list[m.TopicRecord]] = {}
    requested = requested_deletions(request, version)
    meant = topics_to_delete(requested, state.image.topic_names.get)
    for (name, topic_id), topic in zip(requested, meant, strict=True):
        if isinstance(topic, str) and topic not in state.image.topics:
            topic = unknown_topic(topic)
        if isinstance(topic, RequestError):
            results.append(not_deleted(name, topic_id, topic))
            continue
        found = state.image.topics[topic].id
        begun = state.image.topics[topic].deleting
        deletions[found] = [] if begun else [m.TopicRecord(name=topic, topic_id=found, deleting=True)]
        results.append(DeleteResult(name=topic, topic_id=found))
    records = [record for marked in deletions.values() for record in marked]
    return ControllerResult(m.DeleteTopicsResponse(responses=results), records)


def complete_deletions(state: ControllerState, committed: MetadataImage) -> list[m.DeleteTopicRecord]:
    """Return the records that remove the topics whose marks are committed."""
    return [m.DeleteTopicRecord(name=topic_id) for topic_id in sorted(committed.deleting & state.image.deleting)]


def _check_absent(state: ControllerState, name: str) -> None:
    """Raise RequestError if no topic can be created under this name."""
    check_name(name)
    if name in metadata_topic.NAMES:
        raise RequestError(Error.INVALID_TOPIC_EXCEPTION, f"{name} belongs to the controllers.")
    if name in state.image.topics:
        if state.image.topics[name].deleting:
            raise RequestError(Error.TOPIC_ALREADY_EXISTS, f"Topic {name} is being deleted.")
        raise topic_exists(name)
    if problem := collision(name, state.image.topics):
        raise RequestError(Error.INVALID_TOPIC_EXCEPTION, problem)


def _layout(
    state: ControllerState, topic: CreatableTopic, now: float, defaults: TopicDefaults, first_place: int
) -> list[tuple[int, ...]]:
    """Return the replicas of each partition: those that the request assigns, or placed ones."""
    if topic.assignments:
        assignment = requested_assignment(topic)
        check_assigned_brokers(assignment, state.image.brokers, "registered")
        return assignment
    partitions, factor = requested_counts(topic, defaults)
    check_counts(partitions, factor, len(available(state, now)), "active")
    return placed(state, partitions, factor, first_place, now)


def _configs(topic: CreatableTopic) -> list[m.ConfigRecord]:
    return [
        m.ConfigRecord(
            resource_type=TOPIC_RESOURCE, resource_name=topic.name, name=config.name, value=config.value or ""
        )
        for config in topic.configs
    ]
