"""The start of a log: moved by the leader, taken over by followers, and never back, on brokers in one process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import build
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster
from tests.waiting import eventually

TOPIC = "t"
CONFIG = DataPlaneConfig(lag_limit=1.0, retention_check_interval=0.1, segment_bytes=300)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, config=CONFIG) as cluster:
        yield cluster


def produce(cluster: StaticCluster, leader: int, count: int, timestamp: int | None = None) -> None:
    at = time.time_ns() // 1_000_000 if timestamp is None else timestamp
    data = m.ProduceRequest.PartitionProduceData
    for _ in range(count):
        records = build([(None, bytes(100), at)])
        topic = m.ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data(index=0, records=records)])
        response = cluster.ask(leader, m.ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic]), 9)
        assert response.responses[0].partition_responses[0].error_code == Error.NONE


def delete(
    cluster: StaticCluster, leader: int, offset: int, timeout: float = 5.0
) -> m.DeleteRecordsResponse.DeleteRecordsPartitionResult:
    partition = m.DeleteRecordsRequest.DeleteRecordsPartition(partition_index=0, offset=offset)
    topic = m.DeleteRecordsRequest.DeleteRecordsTopic(name=TOPIC, partitions=[partition])
    request = m.DeleteRecordsRequest(topics=[topic], timeout_ms=round(timeout * 1000))
    return cluster.ask(leader, request, 2, timeout + 5).topics[0].partitions[0]


def bounds(cluster: StaticCluster, broker: int) -> tuple[int, int]:
    async def read() -> tuple[int, int]:
        log = cluster.replica(broker, TOPIC).log
        return log.log_start_offset, log.log_end_offset

    return cluster.run(read())


@pytest.mark.requirement("DSTO-09")
def test_an_answered_deletion_holds_on_every_replica_that_can_lead(cluster: StaticCluster) -> None:
    cluster.create(TOPIC, [[1, 2, 3]], min_insync_replicas="2")
    produce(cluster, 1, 10)
    answer = delete(cluster, 1, 7)
    assert (answer.error_code, answer.low_watermark) == (Error.NONE, 7)
    assert [bounds(cluster, broker) for broker in (1, 2, 3)] == [(7, 10)] * 3
    cluster.kill(1)
    cluster.run(_unregister(cluster, 1))
    cluster.start(1)
    assert bounds(cluster, 1)[0] == 7
    leader = cluster.state(TOPIC).leader
    assert leader != 1
    answer = delete(cluster, leader, -1)
    assert (answer.error_code, answer.low_watermark) == (Error.NONE, 10)


async def _unregister(cluster: StaticCluster, broker: int) -> None:
    cluster.world.unregister(broker)


@pytest.mark.parametrize(("offset", "error"), [(11, Error.OFFSET_OUT_OF_RANGE), (-2, Error.OFFSET_OUT_OF_RANGE)])
def test_what_is_not_committed_cannot_be_deleted(cluster: StaticCluster, offset: int, error: Error) -> None:
    cluster.create(TOPIC, [[1, 2, 3]])
    produce(cluster, 1, 10)
    assert delete(cluster, 1, offset).error_code == error
    assert delete(cluster, 2, 3).error_code == Error.NOT_LEADER_OR_FOLLOWER
    assert bounds(cluster, 1) == (0, 10)
    assert delete(cluster, 1, 0).low_watermark == 0


@pytest.mark.requirement("DSTO-09")
def test_a_deletion_waits_for_an_in_sync_replica_that_does_not_fetch(tmp_path: Path) -> None:
    with static_cluster(tmp_path, config=DataPlaneConfig(lag_limit=60.0)) as cluster:
        cluster.create(TOPIC, [[1, 2, 3]])
        produce(cluster, 1, 3)
        cluster.kill(3)
        assert delete(cluster, 1, 2, timeout=1.0).error_code == Error.REQUEST_TIMED_OUT
        eventually(lambda: bounds(cluster, 2) == (2, 3), "the follower that fetches deletes as well")


@pytest.mark.requirement("DSTO-10")
def test_a_follower_whose_log_ends_before_its_leaders_begins_starts_anew_there(cluster: StaticCluster) -> None:
    cluster.create(TOPIC, [[1, 2, 3]])
    produce(cluster, 1, 5)
    cluster.stop(3)
    produce(cluster, 1, 10)
    eventually(lambda: delete(cluster, 1, 12).error_code == Error.NONE, "the deletion is done without the third")
    cluster.start(3)
    eventually(lambda: bounds(cluster, 3) == (12, 15), "it goes on from where the leader's log begins")
    eventually(lambda: 3 in cluster.state(TOPIC).isr, "it is in sync again")
    produce(cluster, 1, 1)
    assert cluster.replica(3, TOPIC).core.high_watermark >= 12


@pytest.mark.requirement("DSTO-08")
def test_retention_of_the_leader_reaches_all_replicas(cluster: StaticCluster) -> None:
    cluster.create(TOPIC, [[1, 2, 3]], retention_ms="3600000")
    produce(cluster, 1, 6, timestamp=1000)
    produce(cluster, 1, 4)
    eventually(
        lambda: [bounds(cluster, broker) for broker in (1, 2, 3)] == [(6, 10)] * 3,
        "all replicas begin with the record that is not too old",
    )


@pytest.mark.requirement("DSTO-08")
def test_retention_by_size_leaves_that_many_bytes(cluster: StaticCluster) -> None:
    cluster.create(TOPIC, [[1, 2, 3]], retention_bytes="1000")
    produce(cluster, 1, 30)

    def is_small(broker: int) -> bool:
        return cluster.replica(broker, TOPIC).log.size < 1000 + 300

    eventually(lambda: all(map(is_small, (1, 2, 3))), "every replica is small")
    assert cluster.replica(1, TOPIC).log.size >= 1000
    assert bounds(cluster, 1)[1] == 30


def test_a_fetch_before_the_start_is_out_of_range(cluster: StaticCluster) -> None:
    cluster.create(TOPIC, [[1, 2, 3]])
    produce(cluster, 1, 5)
    delete(cluster, 1, 4)
    partition = m.FetchRequest.FetchPartition(partition=0, fetch_offset=3, partition_max_bytes=1000)
    topic = m.FetchRequest.FetchTopic(topic=TOPIC, partitions=[partition])
    answer = cluster.ask(1, m.FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1000, topics=[topic]), 11)
    assert answer.responses[0].partitions[0].error_code == Error.OFFSET_OUT_OF_RANGE
