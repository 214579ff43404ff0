"""Fetch of clients that read from a replica near them (KIP-392)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.cluster_impl.api.offsets import EARLIEST, LATEST
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.config.values import ReplicaSelector
from fencepost.cluster_impl.replication.rules import REPLICATION_V2
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import split
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.requests import FETCH_VERSION, batch, fetch, fetch_request, produce
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster
from tests.waiting import eventually

CONFIG = DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1, replica_selector=ReplicaSelector.RACK_AWARE)
RACKS = {1: "a", 2: "b"}
BY_NAME, WITHOUT_RACK = 11, 10
"""Versions of Fetch: the first in which clients name their rack, and the last before it."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 2, CONFIG, racks=RACKS) as cluster:
        cluster.create("t", [[1, 2]])
        follower_serves(cluster)
        yield cluster


def in_rack(cluster: StaticCluster, rack: str, offset: int = 0, *, leader_epoch: int = -1) -> m.FetchRequest:
    request = fetch_request(cluster.state("t"), offset, leader_epoch=leader_epoch)
    request.rack_id = rack
    return request


def by_name(cluster: StaticCluster, broker: int, request: m.FetchRequest, version: int) -> Error:
    request.topics[0].topic = "t"
    return Error(cluster.ask(broker, request, version).responses[0].partitions[0].error_code)


def fetched(data: m.FetchResponse.PartitionData) -> list[int]:
    return [one.base_offset for one in split(data.records or b"")]


def follower_serves(cluster: StaticCluster) -> None:
    def is_served() -> bool:
        return fetch(cluster, 2, fetch_request(cluster.state("t"))).error_code == Error.NONE

    eventually(is_served, "the follower knows that its leader serves clients")


def committed_everywhere(cluster: StaticCluster, offset: int) -> None:
    eventually(lambda: cluster.replica(2, "t").core.high_watermark == offset, "the follower knows what is committed")


@pytest.mark.requirement("DRACK-02")
def test_a_client_in_the_rack_of_a_follower_is_sent_there_without_records(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    answer = fetch(cluster, 1, in_rack(cluster, "b"))
    assert (answer.error_code, answer.preferred_read_replica, fetched(answer)) == (Error.NONE, 2, [])
    assert (answer.high_watermark, answer.log_start_offset) == (1, 0)


@pytest.mark.requirement("DRACK-02")
def test_a_client_that_is_sent_elsewhere_does_not_wait_for_records(cluster: StaticCluster) -> None:
    request = in_rack(cluster, "b")
    request.max_wait_ms = 60_000
    answer = cluster.ask(1, request, FETCH_VERSION, timeout=20.0).responses[0].partitions[0]
    assert answer.preferred_read_replica == 2


@pytest.mark.requirement("DRACK-02")
@pytest.mark.parametrize("rack", ["a", "z", ""])
def test_other_clients_read_from_the_leader(cluster: StaticCluster, rack: str) -> None:
    produce(cluster, 1, batch("a"))
    answer = fetch(cluster, 1, in_rack(cluster, rack))
    assert (answer.preferred_read_replica, fetched(answer)) == (-1, [0])


@pytest.mark.requirement("DRACK-02")
def test_a_follower_that_the_control_plane_gave_up_is_not_named(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    cluster.stop(2)
    answer = fetch(cluster, 1, in_rack(cluster, "b"))
    assert (answer.preferred_read_replica, fetched(answer)) == (-1, [0])


@pytest.mark.requirement("DRACK-02")
def test_a_follower_that_clients_of_this_listener_cannot_reach_is_not_named(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    del cluster.world.brokers[2].endpoints["CLIENT"]
    assert fetch(cluster, 1, in_rack(cluster, "b")).preferred_read_replica == -1


@pytest.mark.requirement("DRACK-02")
def test_the_leader_names_no_follower_to_a_client_that_it_refuses(cluster: StaticCluster) -> None:
    cluster.elect("t", 0, 2)
    cluster.elect("t", 0, 1)
    epoch = cluster.state("t").leader_epoch
    for wrong, error in ((epoch - 1, Error.FENCED_LEADER_EPOCH), (epoch + 1, Error.UNKNOWN_LEADER_EPOCH)):
        answer = fetch(cluster, 1, in_rack(cluster, "b", leader_epoch=wrong))
        assert (answer.error_code, answer.preferred_read_replica) == (error, -1)


@pytest.mark.requirement("DRACK-01", "DRACK-02")
@pytest.mark.parametrize("selector", [ReplicaSelector.LEADER, DataPlaneConfig().replica_selector])
def test_without_a_selector_that_knows_racks_the_leader_is_read(tmp_path: Path, selector: ReplicaSelector) -> None:
    with static_cluster(tmp_path, 2, replace(CONFIG, replica_selector=selector), racks=RACKS) as cluster:
        cluster.create("t", [[1, 2]])
        produce(cluster, 1, batch("a"))
        answer = fetch(cluster, 1, in_rack(cluster, "b"))
        assert (answer.preferred_read_replica, fetched(answer)) == (-1, [0])


@pytest.mark.requirement("DRACK-03")
def test_a_follower_serves_what_it_knows_to_be_committed(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    committed_everywhere(cluster, 1)
    answer = fetch(cluster, 2, in_rack(cluster, "b"))
    assert (answer.error_code, answer.high_watermark, fetched(answer)) == (Error.NONE, 1, [0])
    assert answer.preferred_read_replica == -1


@pytest.mark.requirement("DRACK-03", "DRACK-04")
def test_a_follower_does_not_show_a_record_before_it_is_committed(cluster: StaticCluster) -> None:
    """The third replica is in sync and fetches nothing, so the leader's second record is not committed."""
    cluster.start(3)
    cluster.create("u", [[1, 2, 3]])
    produce(cluster, 1, batch("a"), "u")
    cluster.kill(3)
    produce(cluster, 1, batch("b"), "u", acks=1)
    follower = cluster.replica(2, "u")
    eventually(lambda: follower.log.log_end_offset == 2 and follower.core.high_watermark == 1, "it has copied both")
    state = cluster.state("u")
    assert fetched(fetch(cluster, 2, fetch_request(state, 0))) == [0]
    at_the_end = fetch(cluster, 2, fetch_request(state, 1))
    assert (at_the_end.error_code, fetched(at_the_end)) == (Error.NONE, [])
    assert fetch(cluster, 2, fetch_request(state, 2)).error_code == Error.OFFSET_NOT_AVAILABLE
    assert fetch(cluster, 2, fetch_request(state, 3)).error_code == Error.OFFSET_OUT_OF_RANGE


@pytest.mark.requirement("DRACK-04")
def test_a_client_beyond_a_followers_log_gets_no_divergence(cluster: StaticCluster) -> None:
    """It has read records of this epoch elsewhere, which the follower has not copied yet."""
    produce(cluster, 1, batch("a"))
    committed_everywhere(cluster, 1)
    epoch = cluster.state("t").leader_epoch
    answer = fetch(cluster, 2, fetch_request(cluster.state("t"), 5, last_epoch=epoch))
    assert answer.error_code == Error.OFFSET_OUT_OF_RANGE
    assert answer.diverging_epoch is None or answer.diverging_epoch.epoch == -1


@pytest.mark.requirement("DRACK-05")
def test_a_follower_refuses_other_leader_epochs_than_its_own(cluster: StaticCluster) -> None:
    cluster.elect("t", 0, 2)
    cluster.elect("t", 0, 1)
    follower_serves(cluster)
    epoch = cluster.state("t").leader_epoch
    assert fetch(cluster, 2, in_rack(cluster, "b", leader_epoch=epoch)).error_code == Error.NONE
    assert fetch(cluster, 2, in_rack(cluster, "b", leader_epoch=epoch - 1)).error_code == Error.FENCED_LEADER_EPOCH
    assert fetch(cluster, 2, in_rack(cluster, "b", leader_epoch=epoch + 1)).error_code == Error.UNKNOWN_LEADER_EPOCH


@pytest.mark.requirement("DRACK-05")
def test_a_client_of_an_earlier_version_reads_from_the_leader_only(cluster: StaticCluster) -> None:
    assert by_name(cluster, 2, fetch_request(cluster.state("t")), WITHOUT_RACK) is Error.NOT_LEADER_OR_FOLLOWER
    assert by_name(cluster, 2, fetch_request(cluster.state("t")), BY_NAME) is Error.NONE
    assert by_name(cluster, 1, fetch_request(cluster.state("t")), WITHOUT_RACK) is Error.NONE


@pytest.mark.requirement("DRACK-05")
def test_a_fenced_follower_serves_no_client(cluster: StaticCluster) -> None:
    cluster.world.brokers[2].control.fenced = True
    assert fetch(cluster, 2, in_rack(cluster, "b")).error_code == Error.NOT_LEADER_OR_FOLLOWER


@pytest.mark.requirement("DRACK-05")
def test_a_follower_that_is_fenced_while_a_client_waits_sends_it_no_records(cluster: StaticCluster) -> None:
    waiting = cluster.begin(2, fetch_request(cluster.state("t"), 0, max_wait_ms=60_000), FETCH_VERSION, 40.0)
    eventually(lambda: bool(cluster.replica(2, "t").purgatory.commits), "the fetch waits")
    cluster.world.brokers[2].control.fenced = True
    produce(cluster, 1, batch("a"))
    answer = waiting.result(20).responses[0].partitions[0]
    assert (answer.error_code, fetched(answer)) == (Error.NOT_LEADER_OR_FOLLOWER, [])


def test_a_follower_is_not_asked_for_offsets_and_epochs_or_fetched_from_by_other_followers(
    cluster: StaticCluster,
) -> None:
    state = cluster.state("t")
    for timestamp in (EARLIEST, LATEST):
        asked = m.ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        request = m.ListOffsetsRequest(topics=[m.ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[asked])])
        assert cluster.ask(2, request, 7).topics[0].partitions[0].error_code == Error.NOT_LEADER_OR_FOLLOWER
    ends = m.OffsetForLeaderEpochRequest(
        replica_id=-1,
        topics=[
            m.OffsetForLeaderEpochRequest.OffsetForLeaderTopic(
                topic="t",
                partitions=[m.OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=0, leader_epoch=0)],
            )
        ],
    )
    assert cluster.ask(2, ends, 4).topics[0].partitions[0].error_code == Error.NOT_LEADER_OR_FOLLOWER
    replica = fetch_request(state, 0, replica=(1, cluster.world.epochs[1]), leader_epoch=state.leader_epoch)
    assert fetch(cluster, 2, replica).error_code == Error.NOT_LEADER_OR_FOLLOWER


@pytest.mark.requirement("DRACK-06")
def test_a_client_that_waits_at_a_follower_gets_a_record_once_it_is_committed(tmp_path: Path) -> None:
    """The leader sends what is committed at once, not with the answer to the next fetch that its wait ends."""
    with static_cluster(tmp_path, 2, replace(CONFIG, fetch_wait=60.0), racks=RACKS) as cluster:
        cluster.create("t", [[1, 2]])
        follower_serves(cluster)
        waiting = cluster.begin(2, fetch_request(cluster.state("t"), 0, max_wait_ms=60_000), FETCH_VERSION, 40.0)
        eventually(lambda: bool(cluster.replica(2, "t").purgatory.commits), "the fetch waits")
        produce(cluster, 1, batch("a"))
        assert fetched(waiting.result(20).responses[0].partitions[0]) == [0]


@pytest.mark.requirement("DRACK-06")
def test_an_idle_follower_that_knows_what_is_committed_waits(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    committed_everywhere(cluster, 1)
    state = cluster.state("t")
    follower = fetch_request(
        state, 1, replica=(2, cluster.world.epochs[2]), leader_epoch=state.leader_epoch, max_wait_ms=150
    )
    fetch(cluster, 1, follower)
    begun = time.monotonic()
    assert fetch(cluster, 1, follower).high_watermark == 1
    assert time.monotonic() - begun >= 0.15


@pytest.mark.requirement("DRACK-01")
def test_clients_are_shown_the_rack_of_each_broker(cluster: StaticCluster) -> None:
    assert {each.node_id: each.rack for each in cluster.ask(1, m.MetadataRequest(topics=[]), 12).brokers} == RACKS
    described = cluster.ask(1, m.DescribeClusterRequest(), 0)
    assert {each.broker_id: each.rack for each in described.brokers} == RACKS


@pytest.mark.requirement("DRACK-05")
def test_a_follower_of_a_leader_that_is_not_ready_serves_no_client(tmp_path: Path) -> None:
    """By the rule of V2 that leader takes all that it has for committed, also what other in-sync replicas lack."""
    with static_cluster(tmp_path, 2, CONFIG, REPLICATION_V2, RACKS) as cluster:
        cluster.create("t", [[1, 2]])
        produce(cluster, 1, batch("a"))
        committed_everywhere(cluster, 1)
        state = cluster.state("t")
        term = replace(state, leader_epoch=state.leader_epoch + 1, leader_term_epoch=state.leader_epoch + 1)
        not_ready = replace(term, version=state.version + 1, serves_clients=False)
        cluster.tell(1, not_ready)
        cluster.tell(2, replace(not_ready, serves_clients=True))
        leader = cluster.replica(1, "t").core
        eventually(lambda: leader.followers[2].sent_high_watermark == 1, "the follower has an answer")
        assert fetch(cluster, 2, in_rack(cluster, "b")).error_code == Error.NOT_LEADER_OR_FOLLOWER
        cluster.tell(1, replace(not_ready, serves_clients=True))
        eventually(lambda: fetched(fetch(cluster, 2, in_rack(cluster, "b"))) == [0], "it serves when its leader does")
