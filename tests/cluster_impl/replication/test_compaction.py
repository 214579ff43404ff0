"""Compacted topics on brokers in one process: replicas compact by themselves, and still copy from each other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.cluster_impl.api.groups import coordinator as coordinators
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import build, parse
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster
from tests.waiting import eventually

TOPIC = "t"
CONFIG = DataPlaneConfig(lag_limit=5.0, compaction_interval=0.05, offsets_topic_segment_bytes=500, fetch_wait=0.1)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, config=CONFIG) as cluster:
        yield cluster


def produce(cluster: StaticCluster, leader: int, key: bytes | None, value: bytes | None) -> Error:
    data = m.ProduceRequest.PartitionProduceData
    records = build([(key, value, time.time_ns() // 1_000_000)])
    topic = m.ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data(index=0, records=records)])
    response = cluster.ask(leader, m.ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic]), 9)
    return Error(response.responses[0].partition_responses[0].error_code)


def held(cluster: StaticCluster, broker: int) -> list[tuple[int, bytes | None]]:
    """Offset and value of each record in a replica's log."""

    async def read() -> list[tuple[int, bytes | None]]:
        log = cluster.replica(broker, TOPIC).log
        return [(record.offset, record.value) for batch in log.batches(0) for record in parse(batch)]

    return cluster.run(read())


@pytest.mark.requirement("DSTO-11")
def test_a_replica_that_was_away_copies_a_log_that_was_compacted_meanwhile(cluster: StaticCluster) -> None:
    cluster.create(
        TOPIC,
        [[1, 2, 3]],
        cleanup_policy="compact",
        segment_bytes="200",
        min_insync_replicas="1",
        min_cleanable_dirty_ratio="0.01",
    )
    for number in range(7):
        assert produce(cluster, 1, b"k", str(number).encode()) is Error.NONE
    cluster.stop(3)
    for number in range(7, 30):
        assert produce(cluster, 1, b"k", str(number).encode()) is Error.NONE
    eventually(lambda: len(held(cluster, 1)) <= 4, "the leader has compacted its log")
    cluster.start(3)
    eventually(lambda: 3 in cluster.state(TOPIC).isr, "it is in sync again")
    eventually(lambda: all(held(cluster, broker)[-1] == (29, b"29") for broker in (1, 2, 3)), "all have the newest")
    cluster.elect(TOPIC, 0, 3)
    eventually(lambda: produce(cluster, 3, b"k", b"last") is Error.NONE, "it leads")
    eventually(lambda: all(held(cluster, broker)[-1] == (30, b"last") for broker in (1, 2, 3)), "all follow it")


def test_a_compacted_topic_takes_no_record_without_a_key(cluster: StaticCluster) -> None:
    cluster.create(TOPIC, [[1, 2, 3]], cleanup_policy="compact")
    assert produce(cluster, 1, None, b"v") is Error.INVALID_RECORD
    assert produce(cluster, 1, b"k", None) is Error.NONE


def commit(cluster: StaticCluster, broker: int, group: str, offset: int) -> Error:
    partition = m.OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topic = m.OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[partition])
    request = m.OffsetCommitRequest(group_id=group, generation_id_or_member_epoch=-1, topics=[topic])
    return Error(cluster.ask(broker, request, 8, timeout=10).topics[0].partitions[0].error_code)


def committed(cluster: StaticCluster, broker: int, group: str) -> tuple[Error, int]:
    wanted = m.OffsetFetchRequest.OffsetFetchRequestTopic(name="t", partition_indexes=[0])
    answer = cluster.ask(broker, m.OffsetFetchRequest(group_id=group, topics=[wanted]), 5)
    return Error(answer.error_code), answer.topics[0].partitions[0].committed_offset


def coordinator(cluster: StaticCluster, group: str) -> int:
    first = next(iter(cluster.world.brokers))

    def find() -> m.FindCoordinatorResponse:
        return cluster.ask(first, m.FindCoordinatorRequest(key=group), 3)

    eventually(lambda: find().error_code == Error.NONE, "there is a coordinator")
    return find().node_id


@pytest.mark.requirement("DSTO-14")
def test_offsets_are_compacted_and_none_goes_back_or_vanishes(cluster: StaticCluster) -> None:
    cluster.create("t", [[1]])
    here = coordinator(cluster, "g")
    name = next(iter(cluster.world.brokers[here].apis._coordinator._shards.values())).replica.core.name

    def size(broker: int) -> int:
        return cluster.replica(broker, name.topic, name.partition).log.size

    for offset in range(60):
        assert commit(cluster, here, "g", offset) is Error.NONE
    state = cluster.world.partitions[name]
    eventually(lambda: all(size(broker) < 3000 for broker in state.replicas), "every replica has compacted its log")
    assert committed(cluster, here, "g") == (Error.NONE, 59)
    cluster.stop(here)
    there = coordinator(cluster, "g")
    eventually(lambda: committed(cluster, there, "g") == (Error.NONE, 59), "the next coordinator knows the newest")


@pytest.mark.requirement("DSTO-15")
def test_a_new_coordinator_loads_in_slices_and_refuses_until_it_knows_all_offsets(
    cluster: StaticCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.create("t", [[1]])
    here = coordinator(cluster, "g")
    for offset in range(5):
        assert commit(cluster, here, "g", offset) is Error.NONE
    turns = 0
    release = asyncio.Event()
    step = asyncio.sleep

    async def slow(delay: float) -> None:
        nonlocal turns
        if delay:
            await step(delay)
            return
        turns += 1
        await release.wait()

    monkeypatch.setattr(coordinators, "_SLICE", -1.0)
    monkeypatch.setattr(asyncio, "sleep", slow)
    cluster.stop(here)
    there = coordinator(cluster, "g")
    eventually(lambda: turns > 0, "it has begun to load")
    assert committed(cluster, there, "g")[0] is Error.COORDINATOR_LOAD_IN_PROGRESS
    assert commit(cluster, there, "g", 9) is Error.COORDINATOR_LOAD_IN_PROGRESS

    async def go_on() -> None:
        release.set()

    cluster.run(go_on())
    eventually(lambda: committed(cluster, there, "g") == (Error.NONE, 4), "all offsets are loaded")
    assert turns >= 2


def test_log_append_time_replaces_the_producers_time(cluster: StaticCluster) -> None:
    cluster.create(TOPIC, [[1, 2, 3]], message_timestamp_type="LogAppendTime")
    begun = time.time_ns() // 1_000_000
    data = m.ProduceRequest.PartitionProduceData(index=0, records=build([(b"k", b"v", 5), (b"k", b"w", 6)]))
    topic = m.ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
    response = cluster.ask(1, m.ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic]), 9)
    answer = response.responses[0].partition_responses[0]
    assert answer.error_code == Error.NONE
    assert begun <= answer.log_append_time_ms <= time.time_ns() // 1_000_000

    async def times(broker: int) -> list[tuple[int, bool]]:
        log = cluster.replica(broker, TOPIC).log
        return [(record.timestamp, batch.verify_crc()) for batch in log.batches(0) for record in parse(batch)]

    for broker in (1, 2, 3):
        assert cluster.run(times(broker)) == [(answer.log_append_time_ms, True)] * 2
    damaged = bytearray(build([(b"k", b"v", 5)]))
    damaged[-1] ^= 1
    data.records = bytes(damaged)
    response = cluster.ask(1, m.ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic]), 9)
    assert response.responses[0].partition_responses[0].error_code == Error.CORRUPT_MESSAGE
