"""CreatePartitions: a topic gets more partitions, which are placed as those of a new topic."""

from __future__ import annotations

from collections import Counter

from fencepost.cluster_impl.designs.quorum.controller.placing import available, new_partition, placed
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.image import PartitionRegistration
from fencepost.cluster_impl.designs.shared.partition_requests import (
    MoreResult,
    MoreTopic,
    assigned_addition,
    check_added_count,
    requested_addition,
    too_few_brokers,
)
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError, check_named_once, unknown_topic
from fencepost.cluster_impl.wire import messages as m


def create_partitions(
    state: ControllerState, request: m.CreatePartitionsRequest, now: float
) -> ControllerResult[m.CreatePartitionsResponse]:
    """Decide a whole request; topics that are refused change nothing, the others form one batch. Raises NotHeardYet."""
    try:
        check_added_count(request, lambda name: len(_partitions(state, name)))
    except RequestError as error:
        return ControllerResult(
            m.CreatePartitionsResponse(results=[_refused(topic.name, error) for topic in request.topics])
        )
    occurrences = Counter(topic.name for topic in request.topics)
    results: list[MoreResult] = []
    records: list[m.PartitionRecord] = []
    for topic in request.topics:
        try:
            check_named_once(topic.name, occurrences)
            known = state.image.topics.get(topic.name)
            if known is None or known.deleting:
                raise unknown_topic(topic.name)
            new = _new_partitions(state, topic, state.image.partitions_created + len(records), now)
        except RequestError as error:
            results.append(_refused(topic.name, error))
            continue
        records += new
        results.append(MoreResult(name=topic.name))
    return ControllerResult(m.CreatePartitionsResponse(results=results), () if request.validate_only else records)


def _partitions(state: ControllerState, name: str) -> dict[int, PartitionRegistration]:
    topic = state.image.topics.get(name)
    return {} if topic is None else state.image.partitions[topic.id]


def _new_partitions(state: ControllerState, topic: MoreTopic, first_place: int, now: float) -> list[m.PartitionRecord]:
    present = _partitions(state, topic.name)
    more = requested_addition(topic, len(present))
    # A reassignment of the first partition may be under way, to more or fewer replicas.
    factor = len(present[0].replicas) - len(present[0].adding)
    if topic.assignments is not None:
        layout = assigned_addition(topic, factor, state.image.brokers, "registered")
    else:
        able = available(state, now)
        if factor > len(able):
            raise too_few_brokers(topic.name, factor, len(able), "active")
        layout = placed(state, more, factor, first_place, now)
    topic_id, epoch = state.image.topics[topic.name].id, state.image.first_leader_epoch()
    return [
        new_partition(state, topic_id, index, replicas, epoch, now)
        for index, replicas in enumerate(layout, start=len(present))
    ]


def _refused(name: str, error: RequestError) -> MoreResult:
    return MoreResult(name=name, error_code=error.error, error_message=str(error))
