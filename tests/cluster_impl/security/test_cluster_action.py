"""Only nodes may send the requests between nodes, if there is a file of permissions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from fencepost.cluster_impl.security.acl import AccessList, NoAuthorizer, Rule
from fencepost.cluster_impl.security.cluster_action import (
    denial,
    require_cluster_action,
    require_cluster_action_for_all,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.registry import (
    API_VERSIONS,
    KAFKA,
    QUORUM_CONTROLLER,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    ZK_BROKER,
)
from fencepost.cluster_impl.wire.server import Request

ACLS = AccessList([Rule.parse("User:broker Cluster ClusterAction Allow")])
DESCRIBE_QUORUM = 55
NODES_ONLY = {
    *(4, 5, 6, 7, 1343, 1344, 1589),
    *(50, 51, 52, 53, 54, 56),
}


CONNECTION = SimpleNamespace(host="127.0.0.1")


def follower_fetch(version: int) -> m.FetchRequest:
    request = m.FetchRequest(
        topics=[
            m.FetchRequest.FetchTopic(
                topic="t", partitions=[m.FetchRequest.FetchPartition(partition=p) for p in (0, 1)]
            )
        ]
    )
    if version >= 15:
        request.replica_state = m.FetchRequest.ReplicaState(replica_id=5)
    else:
        request.replica_id = 5
    return request


def error_of(response: Message) -> int:
    return cast("int", getattr(response, "error_code", getattr(response, "top_level_error_code", None)))


@pytest.mark.parametrize("key", sorted(NODES_ONLY))
@pytest.mark.requirement("RSE-10", "RSE-13")
def test_a_sender_without_the_permission_gets_error_31_in_every_version(key: int) -> None:
    api = ({**ZK_BROKER, **QUORUM_CONTROLLER})[key]
    response = denial(ACLS, "User:alice", api.request())
    assert type(response) is api.response
    assert error_of(response) == 31
    for version in range(api.response.MIN_VERSION, api.response.MAX_VERSION + 1):
        assert error_of(api.response.decode(response.encode(version), version)) == 31


@pytest.mark.parametrize("key", sorted(NODES_ONLY))
def test_a_sender_with_the_permission_is_not_refused(key: int) -> None:
    request = ({**ZK_BROKER, **QUORUM_CONTROLLER})[key].request()
    assert denial(ACLS, "User:broker", request) is None
    assert denial(NoAuthorizer(), "User:alice", request) is None


@pytest.mark.parametrize("key", sorted({*KAFKA, DESCRIBE_QUORUM}))
def test_what_clients_ask_needs_no_permission(key: int) -> None:
    request = ({**KAFKA, **QUORUM_CONTROLLER})[key].request()
    assert denial(ACLS, "User:ANONYMOUS", request) is None


@pytest.mark.parametrize("version", [14, 15])
def test_a_follower_that_lacks_the_permission_gets_error_29_for_each_partition(version: int) -> None:
    response = denial(ACLS, "User:alice", follower_fetch(version))
    assert isinstance(response, m.FetchResponse)
    assert [(p.partition_index, p.error_code) for p in response.responses[0].partitions] == [(0, 29), (1, 29)]
    assert response.parts(12)
    assert denial(ACLS, "User:broker", follower_fetch(version)) is None


def test_a_consumer_may_say_that_it_is_no_replica() -> None:
    request = m.FetchRequest(replica_state=m.FetchRequest.ReplicaState(replica_id=-1))
    assert denial(ACLS, "User:alice", request) is None


def test_handlers_are_called_only_for_senders_with_the_permission() -> None:
    asked: list[str] = []

    def handler(request: Request) -> Message:
        asked.append(f"{request.api.name} by {request.principal}")
        return m.AlterIsrResponse()

    handlers = require_cluster_action({56: handler, 3: handler}, ACLS)
    for key in (56, 3):
        for principal in ("User:alice", "User:broker"):
            api = {**KAFKA, **QUORUM_CONTROLLER}[key]
            handlers[key](Request(api, 0, 1, None, api.request(), cast("Any", CONNECTION), 0.0, "INTERNAL", principal))
    assert asked == ["AlterIsr by User:broker", "Metadata by User:alice", "Metadata by User:broker"]


def test_without_permissions_nothing_is_checked() -> None:
    handlers: dict[int, Any] = {56: lambda request: m.AlterIsrResponse()}
    assert require_cluster_action(handlers, NoAuthorizer()) is handlers


@pytest.mark.parametrize("key", sorted({*QUORUM_CONTROLLER} - {API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE}))
@pytest.mark.requirement("K631-10")
def test_a_controller_does_nothing_for_a_sender_without_the_permission(key: int) -> None:
    api = QUORUM_CONTROLLER[key]
    response = denial(ACLS, "User:alice", api.request(), on_controller=True)
    assert type(response) is api.response
    assert denial(ACLS, "User:broker", api.request(), on_controller=True) is None


@pytest.mark.requirement("K631-10")
def test_a_controller_tells_each_topic_that_cannot_be_created_or_deleted() -> None:
    creation = m.CreateTopicsRequest(topics=[m.CreateTopicsRequest.CreatableTopic(name="t")])
    created = denial(ACLS, "User:alice", creation, on_controller=True)
    assert isinstance(created, m.CreateTopicsResponse)
    assert [(each.name, each.error_code) for each in created.topics] == [("t", 31)]
    by_id = m.DeleteTopicsRequest.DeleteTopicState(topic_id=UUID(int=7))
    deleted = denial(ACLS, "User:alice", m.DeleteTopicsRequest(topics=[by_id], topic_names=["t"]), on_controller=True)
    assert isinstance(deleted, m.DeleteTopicsResponse)
    found = [(each.name, each.topic_id.int, each.error_code) for each in deleted.responses]
    assert found == [(None, 7, 31), ("t", 0, 31)]


@pytest.mark.requirement("K631-10")
def test_a_controller_shows_its_metadata_to_no_sender_without_the_permission() -> None:
    quorum = denial(ACLS, "User:alice", m.DescribeQuorumRequest(), on_controller=True)
    assert isinstance(quorum, m.DescribeQuorumResponse)
    assert quorum.error_code == 31
    request = follower_fetch(12)
    request.replica_id = -1
    assert denial(ACLS, "User:alice", request) is None
    fetched = denial(ACLS, "User:alice", request, on_controller=True)
    assert isinstance(fetched, m.FetchResponse)
    assert [each.error_code for each in fetched.responses[0].partitions] == [29, 29]


def test_a_controllers_handlers_are_called_only_for_senders_with_the_permission() -> None:
    asked: list[str] = []

    def handler(request: Request) -> Message:
        asked.append(f"{request.api.name} by {request.principal}")
        return m.DescribeQuorumResponse()

    handlers = require_cluster_action_for_all({19: handler, 55: handler}, ACLS)
    for key in (19, 55):
        for principal in ("User:alice", "User:broker"):
            api = QUORUM_CONTROLLER[key]
            handlers[key](
                Request(api, 0, 1, None, api.request(), cast("Any", CONNECTION), 0.0, "CONTROLLER", principal)
            )
    assert asked == ["CreateTopics by User:broker", "DescribeQuorum by User:broker"]


def test_a_controller_serves_nothing_that_could_not_be_refused() -> None:
    handlers: dict[int, Any] = {3: lambda request: m.MetadataResponse()}
    with pytest.raises(KeyError):
        require_cluster_action_for_all(handlers, NoAuthorizer())
