"""Rules for topics, settings, entries and features: what an administrator asks for."""

from __future__ import annotations

from typing import Any, cast

from fencepost.cluster_impl.api.authorization.records import TopicName
from fencepost.cluster_impl.api.authorization.rules import Asker, Rule, each, joined, whole
from fencepost.cluster_impl.api.serving import Answer
from fencepost.cluster_impl.security.entries import CLUSTER_NAME, AclOperation, ResourceType
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal
from fencepost.cluster_impl.wire.server import Handler, Request

_TOPIC, _CLUSTER = Error.TOPIC_AUTHORIZATION_FAILED, Error.CLUSTER_AUTHORIZATION_FAILED
_TOPIC_RESOURCE = 2
_DELETE_BY_STATE_FROM = 6

MetadataTopic = m.MetadataResponse.MetadataResponseTopic
DeleteResult = m.DeleteTopicsResponse.DeletableTopicResult


def metadata(request: Request, asker: Asker, handler: Handler) -> Answer:
    """DESCRIBE on each topic: one that the sender named is refused, others are left out.

    A topic is created on the way only if the sender may create it. The allowed operations are shown if asked for.
    """
    body = cast("m.MetadataRequest", request.body)
    asks_for_all = body.topics is None or (not body.topics and request.version == 0)
    named = [topic.name for topic in body.topics or () if topic.name is not None]
    denied = {name for name in named if not asker.topic(AclOperation.DESCRIBE, name)}
    if not asker.cluster(AclOperation.CREATE) and any(not asker.topic(AclOperation.CREATE, name) for name in named):
        body.allow_auto_topic_creation = False

    def add(response: m.MetadataResponse) -> None:
        shown = []
        for topic in response.topics:
            if topic.name is None or asker.topic(AclOperation.DESCRIBE, topic.name):
                shown.append(topic)
            elif topic.name in denied:
                shown.append(MetadataTopic(error_code=_TOPIC, name=topic.name))
            elif not asks_for_all:
                shown.append(MetadataTopic(error_code=Error.UNKNOWN_TOPIC_ID, name="", topic_id=topic.topic_id))
        response.topics = shown
        if body.include_topic_authorized_operations:
            for topic in shown:
                if topic.error_code != _TOPIC and topic.name:
                    topic.topic_authorized_operations = asker.operations(ResourceType.TOPIC, topic.name)
        if body.include_cluster_authorized_operations:
            response.cluster_authorized_operations = asker.operations(ResourceType.CLUSTER, CLUSTER_NAME)

    return joined(handler(request), add)


def describe_cluster(request: Request, asker: Asker, handler: Handler) -> Answer:
    """Allowed to all, as in Kafka; shows the allowed operations if they are asked for."""
    body = cast("m.DescribeClusterRequest", request.body)

    def add(response: m.DescribeClusterResponse) -> None:
        response.cluster_authorized_operations = asker.operations(ResourceType.CLUSTER, CLUSTER_NAME)

    return joined(handler(request), add) if body.include_cluster_authorized_operations else handler(request)


create_topics = each(
    "topics",
    lambda topic, asker: asker.cluster(AclOperation.CREATE) or asker.topic(AclOperation.CREATE, topic.name),
    "topics",
    lambda topic: m.CreateTopicsResponse.CreatableTopicResult(
        name=topic.name, error_code=_TOPIC, error_message="Authorization failed."
    ),
)


def delete_topics(topic_name: TopicName) -> Rule:
    """DELETE on each topic, which is named by its name or its id; the response does not name an id's topic."""
    by_name = each(
        "topic_names",
        lambda name, asker: asker.topic(AclOperation.DELETE, name),
        "responses",
        lambda name: DeleteResult(name=name, error_code=_TOPIC),
    )

    def allowed(topic: Any, asker: Asker) -> bool:
        name = topic.name if topic.name is not None else topic_name(topic.topic_id)
        return name is None or asker.topic(AclOperation.DELETE, name)

    by_state = each(
        "topics",
        allowed,
        "responses",
        lambda topic: DeleteResult(name=topic.name, topic_id=topic.topic_id, error_code=_TOPIC),
    )

    def rule(request: Request, asker: Asker, handler: Handler) -> Answer:
        return (by_state if request.version >= _DELETE_BY_STATE_FROM else by_name)(request, asker, handler)

    return rule


def _settings(operation: AclOperation, results: str, result: type[Any]) -> Rule:
    """Ask for an operation on each topic, or on the cluster for any other resource."""

    def allowed(resource: Any, asker: Asker) -> bool:
        if resource.resource_type == _TOPIC_RESOURCE:
            return asker.topic(operation, resource.resource_name)
        return asker.cluster(operation)

    def refused(resource: Any) -> object:
        is_topic = resource.resource_type == _TOPIC_RESOURCE
        return result(
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
            error_code=_TOPIC if is_topic else _CLUSTER,
        )

    return each("resources", allowed, results, refused)


describe_configs = _settings(AclOperation.DESCRIBE_CONFIGS, "results", m.DescribeConfigsResponse.DescribeConfigsResult)
alter_configs = _settings(AclOperation.ALTER_CONFIGS, "responses", m.AlterConfigsResponse.AlterConfigsResourceResponse)
incremental_alter_configs = _settings(
    AclOperation.ALTER_CONFIGS, "responses", m.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
)


def _of_cluster(operation: AclOperation) -> Rule:
    return whole(lambda _, asker: asker.cluster(operation), lambda body, _: refusal(body, _CLUSTER))


describe_acls = _of_cluster(AclOperation.DESCRIBE)
create_acls = delete_acls = update_features = _of_cluster(AclOperation.ALTER)
create_partitions = each(
    "topics",
    lambda topic, asker: asker.topic(AclOperation.ALTER, topic.name),
    "results",
    lambda topic: m.CreatePartitionsResponse.CreatePartitionsTopicResult(name=topic.name, error_code=_TOPIC),
)
elect_leaders = alter_reassignments = _of_cluster(AclOperation.ALTER)
list_reassignments = describe_quorum = _of_cluster(AclOperation.DESCRIBE)
describe_log_dirs = whole(
    lambda _, asker: asker.cluster(AclOperation.DESCRIBE), lambda _, __: m.DescribeLogDirsResponse(error_code=_CLUSTER)
)
