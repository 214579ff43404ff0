"""A fenced broker processes no client request, and its followers are no clients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import RequestMessage
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.registry import API_VERSIONS, KAFKA, SASL_AUTHENTICATE, SASL_HANDSHAKE
from tests.cluster_impl.requests import batch, fetch, fetch_request, produce, produce_request
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster
from tests.waiting import eventually


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 2, DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1)) as cluster:
        cluster.create("t", [[1, 2]])
        produce(cluster, 1, batch("a"))
        yield cluster


def fence(cluster: StaticCluster, broker_id: int) -> None:
    cluster.world.brokers[broker_id].control.fenced = True


def requests(cluster: StaticCluster) -> list[tuple[RequestMessage[Any], int]]:
    """One request of each API whose response has a place for an error, about something that exists."""
    listed = m.ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-1)
    epoch = m.OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=0, leader_epoch=0)
    committed = m.OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    return [
        (produce_request(batch("b")), 9),
        (fetch_request(cluster.state("t")), 16),
        (
            m.ListOffsetsRequest(topics=[m.ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[listed])]),
            7,
        ),
        (
            m.OffsetForLeaderEpochRequest(
                replica_id=-1,
                topics=[m.OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic="t", partitions=[epoch])],
            ),
            4,
        ),
        (m.InitProducerIdRequest(), 4),
        (m.CreateTopicsRequest(topics=[m.CreateTopicsRequest.CreatableTopic(name="u", num_partitions=1)]), 7),
        (m.DeleteTopicsRequest(topics=[m.DeleteTopicsRequest.DeleteTopicState(name="t")]), 6),
        *((request, request.MAX_VERSION) for request in (*partition_requests(), *acl_requests(), *setting_requests())),
        (
            m.DescribeConfigsRequest(
                resources=[m.DescribeConfigsRequest.DescribeConfigsResource(resource_type=2, resource_name="t")]
            ),
            4,
        ),
        (m.FindCoordinatorRequest(key="g"), 2),
        (m.FindCoordinatorRequest(coordinator_keys=["g"]), 4),
        (m.JoinGroupRequest(group_id="g", session_timeout_ms=1000), 5),
        (m.SyncGroupRequest(group_id="g"), 5),
        (m.HeartbeatRequest(group_id="g"), 4),
        (m.LeaveGroupRequest(group_id="g"), 2),
        (m.ListGroupsRequest(), 4),
        (m.DescribeGroupsRequest(groups=["g"]), 5),
        (
            m.OffsetCommitRequest(
                group_id="g",
                topics=[m.OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[committed])],
            ),
            8,
        ),
        (
            m.DeleteRecordsRequest(
                topics=[
                    m.DeleteRecordsRequest.DeleteRecordsTopic(
                        name="t", partitions=[m.DeleteRecordsRequest.DeleteRecordsPartition(offset=-1)]
                    )
                ]
            ),
            2,
        ),
        (m.OffsetFetchRequest(group_id="g"), 7),
        (m.DescribeLogDirsRequest(topics=None), 4),
        (m.DeleteGroupsRequest(groups_names=["g"]), 2),
        (m.OffsetDeleteRequest(group_id="g"), 0),
        (m.OffsetFetchRequest(groups=[m.OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g")]), 8),
    ]


def partition_requests() -> list[RequestMessage[Any]]:
    """Administration of partitions: of something that exists, but for the last one, which names nothing."""
    more = m.CreatePartitionsRequest.CreatePartitionsTopic(name="t", count=2)
    led = m.ElectLeadersRequest.TopicPartitions(topic="t", partitions=[0])
    moved = m.AlterPartitionReassignmentsRequest.ReassignablePartition(partition_index=0, replicas=[1])
    return [
        m.CreatePartitionsRequest(topics=[more], timeout_ms=1000),
        m.ElectLeadersRequest(topic_partitions=[led], timeout_ms=1000),
        m.AlterPartitionReassignmentsRequest(
            topics=[m.AlterPartitionReassignmentsRequest.ReassignableTopic(name="t", partitions=[moved])]
        ),
        m.ListPartitionReassignmentsRequest(),
    ]


def acl_requests() -> list[RequestMessage[Any]]:
    entry = m.CreateAclsRequest.AclCreation(
        resource_type=2,
        resource_name="t",
        resource_pattern_type=3,
        principal="User:u",
        host="*",
        operation=3,
        permission_type=3,
    )
    matching = m.DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=2, pattern_type_filter=3, operation=1, permission_type=1
    )
    return [
        m.DescribeAclsRequest(resource_type_filter=2, pattern_type_filter=3, operation=1, permission_type=1),
        m.CreateAclsRequest(creations=[entry]),
        m.DeleteAclsRequest(filters=[matching]),
    ]


def setting_requests() -> list[RequestMessage[Any]]:
    replaced = m.AlterConfigsRequest.AlterConfigsResource(resource_type=2, resource_name="t")
    changed = m.IncrementalAlterConfigsRequest.AlterConfigsResource(resource_type=2, resource_name="t")
    return [m.AlterConfigsRequest(resources=[replaced]), m.IncrementalAlterConfigsRequest(resources=[changed])]


def errors(message: object) -> set[int]:
    """All error codes anywhere in a response."""
    if isinstance(message, list):
        return {code for item in message for code in errors(item)}
    fields = getattr(message, "_fields", ())
    own = {getattr(message, name) for name in fields if name == "error_code"}
    return own.union(*(errors(getattr(message, name)) for name in fields))


def test_every_api_is_covered(cluster: StaticCluster) -> None:
    asked = {request.API_KEY for request, _ in requests(cluster)}
    closing = {m.MetadataRequest.API_KEY, m.DescribeClusterRequest.API_KEY}
    assert asked | closing | {API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE} == set(KAFKA)


def test_a_fenced_broker_refuses_every_request_and_changes_nothing(cluster: StaticCluster) -> None:
    fence(cluster, 1)
    for request, version in requests(cluster):
        found = errors(cluster.ask(1, request, version))
        refusals = {
            Error.NOT_LEADER_OR_FOLLOWER,
            Error.COORDINATOR_NOT_AVAILABLE,
            Error.NOT_CONTROLLER,
            Error.BROKER_NOT_AVAILABLE,
        }
        assert found & refusals, f"{type(request).__name__} v{version} was answered with {found}"
    assert cluster.log(1, "t") == [b"a"]
    assert list(cluster.world.view.topics) == ["t"]


@pytest.mark.parametrize("request_", [m.MetadataRequest(topics=None), m.DescribeClusterRequest()])
def test_what_has_no_place_for_an_error_is_not_answered(cluster: StaticCluster, request_: RequestMessage[Any]) -> None:
    fence(cluster, 1)
    with pytest.raises(ConnectionError, match="closed the connection"):
        cluster.ask(1, request_, 1)


def test_records_without_acks_are_dropped(cluster: StaticCluster) -> None:
    fence(cluster, 1)
    with pytest.raises(TimeoutError):
        cluster.ask(1, produce_request(batch("b"), acks=0), 9, timeout=0.2)
    assert cluster.log(1, "t") == [b"a"]


@pytest.mark.requirement("K343-17", "K343-18")
@pytest.mark.parametrize(
    ("completes", "error", "brings"), [(False, Error.NOT_LEADER_OR_FOLLOWER, False), (True, Error.NONE, True)]
)
def test_a_fetch_that_waits_when_the_broker_is_fenced_brings_records_only_where_the_begun_is_completed(
    cluster: StaticCluster, completes: bool, error: Error, brings: bool
) -> None:
    cluster.world.brokers[1].control.completes = completes
    waiting = cluster.begin(1, fetch_request(cluster.state("t"), 1, max_wait_ms=3000), 16)
    eventually(lambda: bool(cluster.replica(1, "t").purgatory.commits), "the fetch waits")
    leader = cluster.world.brokers[1]

    async def append_then_fence() -> None:
        cluster.replica(1, "t").append_as_leader(batch("b"), 1, 0.0)
        leader.control.fenced = True

    cluster.run(append_then_fence())
    answer = waiting.result(5).responses[0].partitions[0]
    assert (answer.error_code, bool(answer.records)) == (error, brings)
    after = cluster.ask(1, fetch_request(cluster.state("t"), 1), 16).responses[0].partitions[0]
    assert after.error_code == Error.NOT_LEADER_OR_FOLLOWER, "what is begun now is refused"


def test_followers_are_served_while_the_leader_is_fenced(cluster: StaticCluster) -> None:
    fence(cluster, 1)
    state = cluster.state("t")
    follower = fetch_request(state, 0, replica=(2, cluster.world.epochs[2]), leader_epoch=state.leader_epoch)
    answer = fetch(cluster, 1, follower)
    assert answer.error_code == Error.NONE and answer.records


@pytest.mark.requirement("K343-17", "D343-15", "DLD-15")
@pytest.mark.parametrize(("completes", "error"), [(False, Error.NOT_LEADER_OR_FOLLOWER), (True, Error.NONE)])
def test_what_is_committed_when_the_broker_is_fenced_is_acknowledged_only_where_the_begun_is_completed(
    cluster: StaticCluster, completes: bool, error: Error
) -> None:
    cluster.world.brokers[1].control.completes = completes
    state, epoch = cluster.state("t"), cluster.world.epochs[2]
    cluster.kill(2)
    waiting = cluster.begin(1, produce_request(batch("b"), timeout_ms=5000), 9)
    eventually(lambda: len(cluster.replica(1, "t").purgatory.acknowledgements) == 1, "the produce waits")
    fence(cluster, 1)
    fetch(cluster, 1, fetch_request(state, 2, replica=(2, epoch), leader_epoch=state.leader_epoch))
    assert waiting.result(5).responses[0].partition_responses[0].error_code == error


@pytest.mark.requirement("DLD-15")
def test_offsets_that_are_committed_when_the_broker_is_fenced_are_not_said_to_be(cluster: StaticCluster) -> None:
    cluster.create("__consumer_offsets", [[1, 2]])
    state, epoch = cluster.state("__consumer_offsets"), cluster.world.epochs[2]
    offset = m.OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topic = m.OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[offset])
    cluster.kill(2)
    waiting = cluster.begin(1, m.OffsetCommitRequest(group_id="g", topics=[topic]), 8)
    eventually(
        lambda: len(cluster.replica(1, "__consumer_offsets").purgatory.acknowledgements) == 1, "the commit waits"
    )
    fence(cluster, 1)
    fetch(cluster, 1, fetch_request(state, 1, replica=(2, epoch), leader_epoch=state.leader_epoch))
    assert errors(waiting.result(5)) == {Error.NOT_COORDINATOR}
