"""The answers of Fetch, ListOffsets and OffsetForLeaderEpoch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from fencepost.cluster_impl.api.offsets import EARLIEST, LATEST, MAX_TIMESTAMP
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import ClusterView, PartitionRemoved
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import build, split
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.requests import FETCH_VERSION, batch, fetch, fetch_request, produce
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster
from tests.waiting import eventually


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 2, DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1)) as cluster:
        cluster.create("t", [[1, 2]])
        yield cluster


def fetched(data: m.FetchResponse.PartitionData) -> list[int]:
    """The base offsets of the batches in an answer."""
    return [one.base_offset for one in split(data.records or b"")]


def test_clients_read_committed_records_only(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    cluster.kill(2)
    produce(cluster, 1, batch("b"), acks=1)
    answer = fetch(cluster, 1, fetch_request(cluster.state("t")))
    assert (fetched(answer), answer.high_watermark) == ([0], 1)
    state = cluster.state("t")
    follower = fetch_request(state, 0, replica=(2, cluster.world.epochs[2]), leader_epoch=state.leader_epoch)
    assert fetched(fetch(cluster, 1, follower)) == [0, 1]


def test_a_fetch_waits_for_records_and_not_longer(cluster: StaticCluster) -> None:
    waiting = cluster.begin(1, fetch_request(cluster.state("t"), 0, max_wait_ms=5000), FETCH_VERSION)
    eventually(lambda: bool(cluster.replica(1, "t").purgatory.commits), "the fetch waits")
    produce(cluster, 1, batch("a"))
    assert fetched(waiting.result(2).responses[0].partitions[0]) == [0]
    assert not cluster.replica(1, "t").purgatory.commits


def test_a_fetch_waits_for_as_many_bytes_as_it_asks_for(cluster: StaticCluster) -> None:
    request = fetch_request(cluster.state("t"), 0, max_wait_ms=5000, min_bytes=len(batch("a")) + 1)
    waiting = cluster.begin(1, request, FETCH_VERSION)
    produce(cluster, 1, batch("a"))
    assert not waiting.done()
    produce(cluster, 1, batch("b"))
    assert fetched(waiting.result(2).responses[0].partitions[0]) == [0, 1]


def test_a_fetch_in_vain_ends_when_its_time_is_over(cluster: StaticCluster) -> None:
    begun = time.monotonic()
    assert fetched(fetch(cluster, 1, fetch_request(cluster.state("t"), 0, max_wait_ms=150))) == []
    assert time.monotonic() - begun >= 0.15


def test_the_first_batch_comes_whole_even_if_it_is_larger_than_asked_for(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a" * 1000))
    produce(cluster, 1, batch("b" * 1000))
    assert fetched(fetch(cluster, 1, fetch_request(cluster.state("t"), 0, max_bytes=10))) == [0]


def test_a_full_response_starves_no_partition(cluster: StaticCluster) -> None:
    cluster.create("many", [[1], [1], [1]])
    state = cluster.state("many")
    for partition in range(3):
        cluster.run(append(cluster, partition))
    partitions = [
        m.FetchRequest.FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=100) for index in range(3)
    ]
    request = m.FetchRequest(
        max_bytes=100, topics=[m.FetchRequest.FetchTopic(topic_id=state.topic_id, partitions=partitions)]
    )
    served: set[int] = set()
    for _ in range(30):  # fetches of the follower take turns, too
        answers = cluster.ask(1, request, FETCH_VERSION).responses[0].partitions
        served |= {answer.partition_index for answer in answers if answer.records}
        assert sum(bool(answer.records) for answer in answers) == 1
        if len(served) == 3:
            break
    assert served == {0, 1, 2}


async def append(cluster: StaticCluster, partition: int) -> None:
    cluster.replica(1, "many", partition).append_as_leader(batch("x" * 200), 1, 0.0)


@pytest.mark.parametrize(
    ("offset", "leader_epoch", "error"),
    [
        (5, -1, Error.OFFSET_OUT_OF_RANGE),
        (0, 7, Error.UNKNOWN_LEADER_EPOCH),
        (0, 1, Error.NONE),
        (0, 0, Error.FENCED_LEADER_EPOCH),
    ],
)
def test_a_position_or_an_epoch_that_is_not_there_is_refused(
    cluster: StaticCluster, offset: int, leader_epoch: int, error: Error
) -> None:
    cluster.elect("t", 0, 2)
    produce(cluster, 2, batch("a"))
    answer = fetch(cluster, 2, fetch_request(cluster.state("t"), offset, leader_epoch=leader_epoch))
    assert answer.error_code == error


def test_an_unknown_topic_id_is_named_as_such(cluster: StaticCluster) -> None:
    request = fetch_request(cluster.state("t"))
    request.topics[0].topic_id = uuid4()
    assert fetch(cluster, 1, request).error_code == Error.UNKNOWN_TOPIC_ID


def test_a_topic_id_that_led_to_this_name_once_reads_nothing_of_the_topic_that_has_it_now(
    cluster: StaticCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = fetch_request(cluster.state("t"))
    request.topics[0].topic_id = uuid4()
    monkeypatch.setattr(cluster.world.brokers[1].replicas, "topic_name", lambda topic_id: "t")
    assert fetch(cluster, 1, request).error_code == Error.UNKNOWN_TOPIC_ID


def test_replicas_that_stay_are_found_by_the_id_of_a_topic_that_others_left(
    cluster: StaticCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a broker that knows of no topic but by its own replicas."""
    cluster.create("pair", [[1, 2], [1, 2]])
    state = cluster.state("pair", 0)
    cluster.tell(1, PartitionRemoved(topic="pair", partition=1, topic_id=state.topic_id))
    monkeypatch.setattr(cluster.world.brokers[1].control, "cluster", lambda: ClusterView("c", -1, {}, {}))
    assert fetch(cluster, 1, fetch_request(state)).error_code == Error.NONE


def test_a_reader_whose_last_record_was_cut_learns_where_the_logs_diverge(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    cluster.elect("t", 0, 2)
    produce(cluster, 2, batch("b"))
    answer = fetch(cluster, 2, fetch_request(cluster.state("t"), 2, last_epoch=0))
    assert answer.diverging_epoch == m.FetchResponse.EpochEndOffset(epoch=0, end_offset=1)


def list_offset(
    cluster: StaticCluster, broker: int, timestamp: int
) -> m.ListOffsetsResponse.ListOffsetsPartitionResponse:
    asked = m.ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    request = m.ListOffsetsRequest(topics=[m.ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[asked])])
    return cluster.ask(broker, request, 7).topics[0].partitions[0]


@pytest.mark.parametrize(
    ("timestamp", "offset"), [(EARLIEST, 0), (LATEST, 3), (MAX_TIMESTAMP, 1), (250, 1), (1, 0), (301, -1)]
)
def test_offsets_are_found_by_position_and_by_time(cluster: StaticCluster, timestamp: int, offset: int) -> None:
    produce(cluster, 1, build([(None, b"a", 200), (None, b"b", 300), (None, b"c", 250)]))
    assert list_offset(cluster, 1, timestamp).offset == offset


def test_a_new_leader_shows_no_lower_end_than_its_predecessor_did(cluster: StaticCluster) -> None:
    """Its own high watermark lags until its followers have fetched from it."""
    cluster.create("m", [[1, 2]], min_insync_replicas="2")
    produce(cluster, 1, batch("a"), "m")
    cluster.stop(1)
    asked = m.ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=LATEST)
    request = m.ListOffsetsRequest(topics=[m.ListOffsetsRequest.ListOffsetsTopic(name="m", partitions=[asked])])
    answer = cluster.ask(2, request, 7).topics[0].partitions[0]
    assert (answer.error_code, answer.offset) in [(Error.NONE, 1), (Error.OFFSET_NOT_AVAILABLE, -1)]


def test_epochs_end_where_the_next_one_begins(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a", "b"))
    cluster.elect("t", 0, 2)
    produce(cluster, 2, batch("c"))
    asked = m.OffsetForLeaderEpochRequest.OffsetForLeaderPartition
    request = m.OffsetForLeaderEpochRequest(
        replica_id=-1,
        topics=[
            m.OffsetForLeaderEpochRequest.OffsetForLeaderTopic(
                topic="t", partitions=[asked(partition=0, leader_epoch=0), asked(partition=0, leader_epoch=1)]
            )
        ],
    )
    ends = cluster.ask(2, request, 4).topics[0].partitions
    assert [(end.leader_epoch, end.end_offset) for end in ends] == [(0, 2), (1, 3)]
