"""Every API answers in every version that is advertised."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import RequestMessage
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.registry import API_VERSIONS, KAFKA, SASL_AUTHENTICATE, SASL_HANDSHAKE
from tests.cluster_impl.requests import batch, produce, produce_request
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 1, DataPlaneConfig(lag_limit=60.0)) as cluster:
        cluster.create("t", [[1]])
        cluster.create("__consumer_offsets", [[1]])
        produce(cluster, 1, batch("a"))
        yield cluster


def requests(topic_id: UUID) -> list[tuple[RequestMessage[Any], int, int]]:
    """Requests with the first and the last version that can carry them; version -1 is the newest."""
    fetched = m.FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    listed = m.ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-1)
    epoch = m.OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=0, leader_epoch=0)
    committed = m.OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    protocol = m.JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"m")
    wanted = m.OffsetFetchRequest.OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1])
    metadata_topic = m.MetadataRequest.MetadataRequestTopic
    leaving = m.LeaveGroupRequest.MemberIdentity(member_id="x")
    config = m.DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=2, resource_name="t", configuration_keys=None
    )
    own = m.OffsetFetchRequest.OffsetFetchRequestGroup(group_id="own", topics=None)
    epoch_topic = m.OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic="t", partitions=[epoch])
    commit_topic = m.OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[committed])
    deleted = m.DeleteRecordsRequest.DeleteRecordsPartition(offset=-1)
    deletion = m.DeleteRecordsRequest.DeleteRecordsTopic(name="t", partitions=[deleted])
    return [
        (m.DeleteRecordsRequest(topics=[deletion], timeout_ms=100), 0, -1),
        (m.DescribeLogDirsRequest(topics=None), 1, -1),
        (m.DeleteGroupsRequest(groups_names=["unknown"]), 0, -1),
        (m.OffsetDeleteRequest(group_id="unknown"), 0, -1),
        (produce_request(batch("b")), 3, -1),
        (m.FetchRequest(topics=[m.FetchRequest.FetchTopic(topic="t", partitions=[fetched])]), 4, 12),
        (m.FetchRequest(topics=[m.FetchRequest.FetchTopic(topic_id=topic_id, partitions=[fetched])]), 13, -1),
        (m.ListOffsetsRequest(topics=[m.ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[listed])]), 1, -1),
        (m.MetadataRequest(topics=[metadata_topic(name="t"), metadata_topic(name="unknown")]), 0, -1),
        (m.MetadataRequest(topics=None), 1, -1),
        (m.MetadataRequest(topics=[metadata_topic(name=None, topic_id=topic_id)]), 10, -1),
        (m.MetadataRequest(topics=[metadata_topic(name=None, topic_id=uuid4())]), 10, -1),
        (m.OffsetForLeaderEpochRequest(topics=[epoch_topic]), 2, -1),
        (m.InitProducerIdRequest(transactional_id=None), 0, -1),
        (m.CreateTopicsRequest(topics=[m.CreateTopicsRequest.CreatableTopic(name="u", num_partitions=1)]), 2, -1),
        (m.DeleteTopicsRequest(topic_names=["u"]), 1, 5),
        (m.DeleteTopicsRequest(topics=[m.DeleteTopicsRequest.DeleteTopicState(name="u")]), 6, -1),
        (m.DescribeConfigsRequest(resources=[config]), 1, -1),
        *((each, each.MIN_VERSION, -1) for each in (*partition_requests(), *acl_requests(), *setting_requests())),
        (m.DescribeClusterRequest(), 0, -1),
        (m.FindCoordinatorRequest(key="g"), 0, 3),
        (m.FindCoordinatorRequest(coordinator_keys=["g", "h"]), 4, -1),
        (
            m.JoinGroupRequest(group_id="g", session_timeout_ms=1000, protocol_type="consumer", protocols=[protocol]),
            0,
            -1,
        ),
        (m.SyncGroupRequest(group_id="g"), 0, -1),
        (m.HeartbeatRequest(group_id="g"), 0, -1),
        (m.LeaveGroupRequest(group_id="g", member_id="x"), 0, 2),
        (m.LeaveGroupRequest(group_id="g", members=[leaving]), 3, -1),
        (m.ListGroupsRequest(), 0, -1),
        (m.DescribeGroupsRequest(groups=["g", "unknown"]), 0, -1),
        (m.OffsetCommitRequest(group_id="own", topics=[commit_topic], generation_id_or_member_epoch=-1), 2, -1),
        (m.OffsetFetchRequest(group_id="own", topics=[wanted]), 1, 7),
        (m.OffsetFetchRequest(group_id="own", topics=None), 2, 7),
        (m.OffsetFetchRequest(groups=[own]), 8, -1),
    ]


def partition_requests() -> list[RequestMessage[Any]]:
    more = m.CreatePartitionsRequest.CreatePartitionsTopic(name="t", count=2)
    led = m.ElectLeadersRequest.TopicPartitions(topic="t", partitions=[0])
    moved = m.AlterPartitionReassignmentsRequest.ReassignablePartition(partition_index=0, replicas=[1])
    topic = m.AlterPartitionReassignmentsRequest.ReassignableTopic(name="t", partitions=[moved])
    return [
        m.CreatePartitionsRequest(topics=[more]),
        m.ElectLeadersRequest(topic_partitions=[led]),
        m.AlterPartitionReassignmentsRequest(topics=[topic]),
        m.ListPartitionReassignmentsRequest(),
    ]


def acl_requests() -> list[RequestMessage[Any]]:
    return [
        m.CreateAclsRequest(creations=[m.CreateAclsRequest.AclCreation(resource_name="t")]),
        m.DescribeAclsRequest(),
        m.DeleteAclsRequest(filters=[m.DeleteAclsRequest.DeleteAclsFilter()]),
    ]


def setting_requests() -> list[RequestMessage[Any]]:
    changed = m.IncrementalAlterConfigsRequest.AlterConfigsResource(resource_type=2, resource_name="t")
    return [
        m.AlterConfigsRequest(
            resources=[m.AlterConfigsRequest.AlterConfigsResource(resource_type=2, resource_name="t")]
        ),
        m.IncrementalAlterConfigsRequest(resources=[changed]),
    ]


def test_a_broker_that_keeps_no_entries_says_so(cluster: StaticCluster) -> None:
    cluster.world.brokers[1].control.fenced = False
    create, describe, delete = acl_requests()
    created, deleted = cluster.ask(1, create, 3), cluster.ask(1, delete, 3)
    assert [created.results[0].error_code, deleted.filter_results[0].error_code] == [Error.SECURITY_DISABLED] * 2
    assert cluster.ask(1, describe, 3).error_code == Error.SECURITY_DISABLED


OF_THE_SERVER = {API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE}
"""Requests that are answered before any request to a broker."""


@pytest.mark.parametrize("serving", [True, False])
def test_every_api_answers_in_every_version(cluster: StaticCluster, serving: bool) -> None:
    """A broker that processes and one that refuses: a version that cannot carry an answer would end the connection."""
    cluster.world.brokers[1].control.fenced = not serving
    closing = set() if serving else {m.MetadataRequest.API_KEY, m.DescribeClusterRequest.API_KEY}
    asked = set()
    for request, first, last in requests(cluster.state("t").topic_id):
        api = KAFKA[request.API_KEY]
        for version in range(first, (api.max_version if last == -1 else last) + 1):
            if isinstance(request, m.JoinGroupRequest):
                request.group_id = f"group {version}"
            if api.key not in closing:
                cluster.ask(1, request, version)
                asked.add((api.key, version))
    served = {
        (api.key, version)
        for api in KAFKA.values()
        for version in range(api.request.MIN_VERSION, api.max_version + 1)
        if api.key not in closing | OF_THE_SERVER
    }
    assert asked == served


def test_offsets_are_committed_and_fetched_in_the_oldest_and_newest_versions(cluster: StaticCluster) -> None:
    partition = m.OffsetCommitRequest.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=7, committed_metadata="note"
    )
    topic = m.OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[partition])
    commit = m.OffsetCommitRequest(group_id="own", generation_id_or_member_epoch=-1, topics=[topic])
    assert cluster.ask(1, commit, 9).topics[0].partitions[0].error_code == Error.NONE
    wanted = m.OffsetFetchRequest.OffsetFetchRequestTopic(name="t", partition_indexes=[0])
    old = cluster.ask(1, m.OffsetFetchRequest(group_id="own", topics=[wanted]), 1).topics[0].partitions[0]
    group = m.OffsetFetchRequest.OffsetFetchRequestGroup(group_id="own", topics=None)
    new = cluster.ask(1, m.OffsetFetchRequest(groups=[group]), 9).groups[0].topics[0].partitions[0]
    assert (old.committed_offset, old.metadata) == (new.committed_offset, new.metadata) == (7, "note")


@pytest.mark.parametrize(
    ("wanted", "error"), [(2, Error.MISMATCHED_ENDPOINT_TYPE), (3, Error.UNSUPPORTED_ENDPOINT_TYPE)]
)
def test_a_broker_names_no_brokers_in_the_place_of_other_nodes(
    cluster: StaticCluster, wanted: int, error: Error
) -> None:
    answer = cluster.ask(1, m.DescribeClusterRequest(endpoint_type=wanted), 1)
    assert (answer.error_code, answer.brokers) == (error, [])
    assert answer.error_message is not None
