"""CreatePartitions: the new partitions are written into the topic's znode, and get leaders within the same event."""

from __future__ import annotations

from collections import Counter

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.shared.partition_requests import (
    MoreResult,
    MoreTopic,
    assigned_addition,
    check_added_count,
    requested_addition,
    too_few_brokers,
)
from fencepost.cluster_impl.designs.shared.placement import place_as_kafka
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError, check_named_once, unknown_topic
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext
from fencepost.cluster_impl.designs.zk_controller.controller.topics.create_topics import check_size
from fencepost.cluster_impl.designs.zk_controller.controller.topics.topic_listener import TopicListener
from fencepost.cluster_impl.designs.zk_controller.controller.topics.topic_znodes import write_assignments
from fencepost.cluster_impl.designs.zk_controller.znodes import PartitionReplicas, TopicInfo
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error


def create_partitions(
    topics: TopicListener, context: ControllerContext, request: m.CreatePartitionsRequest
) -> Steps[m.CreatePartitionsResponse]:
    """Decide a whole request, and carry it out unless it is to be validated only."""
    try:
        check_added_count(request, lambda name: len(context.assignments.get(name, ())))
    except RequestError as error:
        return m.CreatePartitionsResponse(results=[_result(topic.name, error) for topic in request.topics])
    occurrences = Counter(topic.name for topic in request.topics)
    results = []
    for topic in request.topics:
        try:
            check_named_once(topic.name, occurrences)
            new = _new_partitions(context, topic)
            if not request.validate_only:
                yield from _write(topics, context, topic.name, new)
        except RequestError as error:
            results.append(_result(topic.name, error))
        else:
            results.append(MoreResult(name=topic.name))
    return m.CreatePartitionsResponse(results=results)


def _new_partitions(context: ControllerContext, topic: MoreTopic) -> dict[int, PartitionReplicas]:
    present = context.assignments.get(topic.name)
    if not present:
        raise unknown_topic(topic.name)
    if topic.name in context.to_delete:
        raise RequestError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {topic.name} is being deleted.")
    more = requested_addition(topic, len(present))
    # A reassignment of the first partition may be under way, to more or fewer replicas.
    factor = len(present[min(present)].origin)
    if topic.assignments is not None:
        layout = assigned_addition(topic, factor, context.live, "live")
    elif factor > len(context.live):
        raise too_few_brokers(topic.name, factor, len(context.live), "live")
    else:
        layout = place_as_kafka(list(context.live), more, factor, sum(map(len, context.assignments.values())))
    new = {len(present) + at: PartitionReplicas(replicas) for at, replicas in enumerate(layout)}
    check_size(topic.name, TopicInfo(context.topic_ids[topic.name], {**present, **new}))
    return new


def _write(
    topics: TopicListener, context: ControllerContext, name: str, new: dict[int, PartitionReplicas]
) -> Steps[None]:
    if not (yield from write_assignments(name, new)):
        raise unknown_topic(name)
    yield from topics.changed(name)
    if not all(TopicPartition(name, index) in context.leadership for index in new):
        message = f"Partitions of topic {name} are created, and not each of them has a leader yet."
        raise RequestError(Error.REQUEST_TIMED_OUT, message)


def _result(name: str, error: RequestError) -> MoreResult:
    return MoreResult(name=name, error_code=error.error, error_message=str(error))
