"""Rules for groups: coordinators, members, and committed offsets."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from fencepost.cluster_impl.api.authorization.rules import Asker, each, joined, whole, without
from fencepost.cluster_impl.api.groups.membership import refused_join
from fencepost.cluster_impl.api.groups.offsets import refused_offset_fetch
from fencepost.cluster_impl.api.serving import Answer
from fencepost.cluster_impl.security.entries import AclOperation, ResourceType
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal
from fencepost.cluster_impl.wire.server import Handler, Request

_GROUP = Error.GROUP_AUTHORIZATION_FAILED
_TOPIC = Error.TOPIC_AUTHORIZATION_FAILED
_SEVERAL_KEYS_FROM = 4
_SEVERAL_GROUPS_FROM = 8


_member = whole(
    lambda body, asker: asker.group(AclOperation.READ, body.group_id), lambda body, _: refusal(body, _GROUP)
)
join = whole(
    lambda body, asker: asker.group(AclOperation.READ, body.group_id),
    lambda body, request: refused_join(body, request, _GROUP),
)
sync = heartbeat = leave = _member


def find_coordinator(request: Request, asker: Asker, handler: Handler) -> Answer:
    """DESCRIBE on each group; keys of other kinds are refused by the handler."""
    body = cast("m.FindCoordinatorRequest", request.body)
    if request.version < _SEVERAL_KEYS_FROM:
        if asker.group(AclOperation.DESCRIBE, body.key):
            return handler(request)
        return m.FindCoordinatorResponse(error_code=_GROUP, node_id=-1, host="", port=-1)
    denied = [key for key in body.coordinator_keys if not asker.group(AclOperation.DESCRIBE, key)]
    if not denied:
        return handler(request)
    errors = [
        m.FindCoordinatorResponse.Coordinator(key=key, node_id=-1, host="", port=-1, error_code=_GROUP)
        for key in denied
    ]
    return without(request, handler, "coordinator_keys", denied, lambda response: response.coordinators.extend(errors))


def describe_groups(request: Request, asker: Asker, handler: Handler) -> Answer:
    """DESCRIBE on each group; shows the allowed operations if they are asked for."""
    body = cast("m.DescribeGroupsRequest", request.body)
    denied = [group for group in body.groups if not asker.group(AclOperation.DESCRIBE, group)]
    errors = [m.DescribeGroupsResponse.DescribedGroup(group_id=group, error_code=_GROUP) for group in denied]

    def add(response: m.DescribeGroupsResponse) -> None:
        if body.include_authorized_operations:
            for group in response.groups:
                group.authorized_operations = asker.operations(ResourceType.GROUP, group.group_id)
        response.groups.extend(errors)

    return without(request, handler, "groups", denied, add) if denied else joined(handler(request), add)


def list_groups(request: Request, asker: Asker, handler: Handler) -> Answer:
    """Show all groups if the sender may describe the cluster, else those that it may describe."""
    if asker.cluster(AclOperation.DESCRIBE):
        return handler(request)

    def filtered(response: m.ListGroupsResponse) -> None:
        response.groups = [group for group in response.groups if asker.group(AclOperation.DESCRIBE, group.group_id)]

    return joined(handler(request), filtered)


def _refused(response: Any, partition: Any, topic: Any, error: Error = _TOPIC) -> Any:
    """Return the error for each partition of a topic, in the types of the response."""
    partitions = [partition(partition_index=one.partition_index, error_code=error) for one in topic.partitions]
    return response(name=topic.name, partitions=partitions)


_uncommitted = partial(
    _refused,
    m.OffsetCommitResponse.OffsetCommitResponseTopic,
    m.OffsetCommitResponse.OffsetCommitResponsePartition,
)
_commit_topics = each("topics", lambda topic, asker: asker.topic(AclOperation.READ, topic.name), "topics", _uncommitted)


def offset_commit(request: Request, asker: Asker, handler: Handler) -> Answer:
    """READ on the group, and READ on each topic."""
    body = cast("m.OffsetCommitRequest", request.body)
    if not asker.group(AclOperation.READ, body.group_id):
        return refusal(body, _GROUP)
    return _commit_topics(request, asker, handler)


delete_groups = each(
    "groups_names",
    lambda name, asker: asker.group(AclOperation.DELETE, name),
    "results",
    lambda name: m.DeleteGroupsResponse.DeletableGroupResult(group_id=name, error_code=_GROUP),
)


_kept = partial(
    _refused,
    m.OffsetDeleteResponse.OffsetDeleteResponseTopic,
    m.OffsetDeleteResponse.OffsetDeleteResponsePartition,
)
_delete_topics = each("topics", lambda topic, asker: asker.topic(AclOperation.READ, topic.name), "topics", _kept)


def offset_delete(request: Request, asker: Asker, handler: Handler) -> Answer:
    """DELETE on the group, and READ on each topic."""
    body = cast("m.OffsetDeleteRequest", request.body)
    if not asker.group(AclOperation.DELETE, body.group_id):
        return refusal(body, _GROUP)
    return _delete_topics(request, asker, handler)


def offset_fetch(request: Request, asker: Asker, handler: Handler) -> Answer:
    """DESCRIBE on each group, and on each topic whose offsets are shown."""
    body = cast("m.OffsetFetchRequest", request.body)
    if request.version < _SEVERAL_GROUPS_FROM:
        if not asker.group(AclOperation.DESCRIBE, body.group_id):
            return refused_offset_fetch(body, request, _GROUP)
        return joined(handler(request), lambda response: _hide(response, body.topics is None, asker))
    denied = [group for group in body.groups if not asker.group(AclOperation.DESCRIBE, group.group_id)]
    everything = {group.group_id for group in body.groups if group.topics is None}

    def add(response: m.OffsetFetchResponse) -> None:
        for group in response.groups:
            _hide(group, group.group_id in everything, asker)
        response.groups += [
            m.OffsetFetchResponse.OffsetFetchResponseGroup(group_id=group.group_id, error_code=_GROUP)
            for group in denied
        ]

    return without(request, handler, "groups", denied, add) if denied else joined(handler(request), add)


def _hide(
    shown: m.OffsetFetchResponse | m.OffsetFetchResponse.OffsetFetchResponseGroup, everything: bool, asker: Asker
) -> None:
    """Take the topics out that the sender may not describe; one that it named gets an error instead."""
    hidden = [topic for topic in shown.topics if not asker.topic(AclOperation.DESCRIBE, topic.name)]
    if everything:
        shown.topics = [topic for topic in shown.topics if topic not in hidden]  # type: ignore[assignment]
        return
    for topic in hidden:
        for one in topic.partitions:
            one.error_code, one.committed_offset, one.metadata = _TOPIC, -1, ""
