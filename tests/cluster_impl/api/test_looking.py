"""The part of the cluster view that a client requests is brought up to date first, and no more."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import RequestMessage
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster

Asked = m.MetadataRequest.MetadataRequestTopic
Resource = m.DescribeConfigsRequest.DescribeConfigsResource


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 1) as cluster:
        cluster.create("t", [[1]])
        yield cluster


@pytest.mark.parametrize(
    ("request_", "version", "topics"),
    [
        (m.MetadataRequest(topics=[Asked(name="t"), Asked(name="absent")]), 12, ["t", "absent"]),
        (m.MetadataRequest(topics=None), 12, None),
        (m.MetadataRequest(topics=[]), 0, None),
        (m.MetadataRequest(topics=[]), 12, []),
        (m.MetadataRequest(topics=[Asked(name="t"), Asked(name=None, topic_id=UUID(int=9))]), 12, None),
        (m.DescribeClusterRequest(), 0, []),
        (m.FindCoordinatorRequest(key="g"), 2, ["__consumer_offsets"]),
        (m.DescribeConfigsRequest(resources=[Resource(resource_type=2, resource_name="t")]), 4, ["t"]),
        (m.DescribeConfigsRequest(resources=[Resource(resource_type=4, resource_name="1")]), 4, []),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, m.MetadataRequest) else None,
)
def test_a_client_is_shown_what_was_looked_at_for_it(
    cluster: StaticCluster, request_: RequestMessage[Any], version: int, topics: Collection[str] | None
) -> None:
    control = cluster.world.brokers[1].control
    cluster.ask(1, request_, version)
    first = control.looked[0]
    assert (None if first is None else list(first)) == topics


def test_a_client_that_only_reads_and_writes_records_causes_no_update(cluster: StaticCluster) -> None:
    listed = m.ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-1)
    topic = m.ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[listed])
    cluster.ask(1, m.ListOffsetsRequest(topics=[topic]), 7)
    assert cluster.world.brokers[1].control.looked == []
