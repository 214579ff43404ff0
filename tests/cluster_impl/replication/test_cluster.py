"""Brokers over real sockets: records survive what happens to brokers, and replicas end up alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.requests import batch, fetch, fetch_request, produce
from tests.cluster_impl.static_cluster import StaticCluster, static_cluster
from tests.waiting import eventually

PATIENT = DataPlaneConfig(lag_limit=60.0, fetch_wait=0.1)
HASTY = DataPlaneConfig(lag_limit=0.3, fetch_wait=0.1)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 3, PATIENT) as cluster:
        cluster.create("t", [[1, 2, 3]], min_insync_replicas="2")
        yield cluster


@pytest.fixture
def hasty(tmp_path: Path) -> Iterator[StaticCluster]:
    with static_cluster(tmp_path, 3, HASTY) as cluster:
        cluster.create("t", [[1, 2, 3]], min_insync_replicas="2")
        yield cluster


def values(cluster: StaticCluster, broker_id: int) -> list[str]:
    return [(value or b"").decode() for value in cluster.log(broker_id, "t")]


def test_what_is_acknowledged_by_all_is_on_all(cluster: StaticCluster) -> None:
    answer = produce(cluster, 1, batch("a", "b"))
    assert (answer.error_code, answer.base_offset) == (Error.NONE, 0)
    assert all(values(cluster, broker) == ["a", "b"] for broker in (1, 2, 3))
    assert cluster.replica(1, "t").core.high_watermark == 2


@pytest.mark.requirement("INT-30")
def test_followers_learn_the_high_watermark(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    for broker in (2, 3):
        eventually(lambda b=broker: cluster.replica(b, "t").core.high_watermark == 1, f"{broker} knows")  # type: ignore[misc]


def test_a_new_leader_has_what_was_acknowledged(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    cluster.stop(1)
    assert produce(cluster, cluster.state("t").leader, batch("b")).base_offset == 1
    assert values(cluster, 2) == values(cluster, 3) == ["a", "b"]


@pytest.mark.requirement("DINT-03", "D631-34")
def test_a_deposed_leader_loses_only_what_no_other_replica_took(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    deposed = cluster.forget(1)
    assert produce(cluster, deposed, batch("lost"), acks=1).error_code == Error.NONE
    assert produce(cluster, deposed, batch("lost too"), acks=-1, timeout_ms=100).error_code == Error.REQUEST_TIMED_OUT
    produce(cluster, 2, batch("b", "c"))
    cluster.readmit(deposed)
    eventually(lambda: values(cluster, 1) == ["a", "b", "c"], "the deposed leader follows")
    eventually(lambda: set(cluster.state("t").isr) == {1, 2, 3}, "it is in sync again")


def test_a_leader_that_comes_back_with_an_empty_disk_takes_nothing_from_the_others(
    cluster: StaticCluster, tmp_path: Path
) -> None:
    produce(cluster, 1, batch("a"))
    cluster.stop(1)
    (tmp_path / "1").rename(tmp_path / "lost")
    cluster.start(1)
    eventually(lambda: set(cluster.state("t").isr) == {1, 2, 3}, "the emptied broker has caught up")
    assert [values(cluster, broker) for broker in (1, 2, 3)] == [["a"]] * 3


@pytest.mark.parametrize(
    ("epoch", "error"),
    [(-1, Error.NOT_LEADER_OR_FOLLOWER), (0, Error.NOT_LEADER_OR_FOLLOWER), (10_000, Error.UNKNOWN_LEADER_EPOCH)],
)
def test_a_fetch_of_another_incarnation_commits_nothing(cluster: StaticCluster, epoch: int, error: Error) -> None:
    cluster.kill(3)
    assert produce(cluster, 1, batch("a"), timeout_ms=200).error_code == Error.REQUEST_TIMED_OUT
    state = cluster.state("t")
    answer = fetch(cluster, 1, fetch_request(state, 1, replica=(3, epoch), leader_epoch=state.leader_epoch))
    assert answer.error_code == error
    assert cluster.replica(1, "t").core.high_watermark == 0
    credited = fetch_request(state, 1, replica=(3, cluster.world.epochs[3]), leader_epoch=state.leader_epoch)
    assert fetch(cluster, 1, credited).error_code == Error.NONE
    assert cluster.replica(1, "t").core.high_watermark == 1


def test_a_silent_follower_leaves_and_acks_go_on_and_it_returns(hasty: StaticCluster) -> None:
    hasty.kill(3)
    assert produce(hasty, 1, batch("a"), timeout_ms=5000).error_code == Error.NONE
    assert set(hasty.state("t").isr) == {1, 2}
    hasty.start(3)
    eventually(lambda: set(hasty.state("t").isr) == {1, 2, 3}, "the follower is in sync again")
    assert values(hasty, 3) == ["a"]


def test_below_the_minimum_of_in_sync_replicas_nothing_is_appended(cluster: StaticCluster) -> None:
    cluster.stop(2)
    cluster.stop(3)
    assert produce(cluster, 1, batch("a")).error_code == Error.NOT_ENOUGH_REPLICAS
    assert values(cluster, 1) == []


def test_a_shrink_below_the_minimum_answers_waiting_requests(hasty: StaticCluster) -> None:
    hasty.kill(2)
    hasty.kill(3)
    assert produce(hasty, 1, batch("a"), timeout_ms=5000).error_code == Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def test_a_repeated_batch_is_recognised_by_the_next_leader(cluster: StaticCluster) -> None:
    first = produce(cluster, 1, batch("a", producer_id=7, sequence=0))
    cluster.elect("t", 0, 2)
    again = produce(cluster, 2, batch("a", producer_id=7, sequence=0))
    assert (again.error_code, again.base_offset) == (Error.NONE, first.base_offset)
    assert values(cluster, 2) == ["a"]
    gap = produce(cluster, 2, batch("c", producer_id=7, sequence=2))
    assert gap.error_code == Error.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_repeated_batch_is_acknowledged_only_when_it_is_committed(cluster: StaticCluster) -> None:
    cluster.kill(3)
    for _ in range(2):
        answer = produce(cluster, 1, batch("a", producer_id=7, sequence=0), timeout_ms=200)
        assert answer.error_code == Error.REQUEST_TIMED_OUT
    assert values(cluster, 1) == ["a"]


def test_a_follower_follows_the_process_that_has_its_leaders_id_now(cluster: StaticCluster) -> None:
    """The one that lost the id lives on and answers, and would be asked in vain for ever."""
    cluster.create("u", [[1, 2]])
    follower = cluster.forget(2)
    cluster.start(1, folder="duplicate of 1")
    cluster.readmit(follower)
    eventually(lambda: set(cluster.state("u").isr) == {1, 2}, "the follower has found the new process")


def test_a_whole_cluster_restarts_with_everything(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a", "b"))
    eventually(lambda: cluster.replica(3, "t").core.high_watermark == 2, "the last to stop knows what is committed")
    for broker in (1, 2, 3):
        cluster.stop(broker)
    for broker in (3, 2, 1):
        cluster.start(broker)
    assert cluster.replica(3, "t").core.high_watermark == 2
    eventually(lambda: set(cluster.state("t").isr) == {1, 2, 3}, "all are in sync again")
    assert produce(cluster, 3, batch("c")).base_offset == 2
    assert all(values(cluster, broker) == ["a", "b", "c"] for broker in (1, 2, 3))


def test_a_deleted_topic_leaves_no_folder_and_its_name_can_be_used_again(
    cluster: StaticCluster, tmp_path: Path
) -> None:
    produce(cluster, 1, batch("a"))
    gone = m.DeleteTopicsRequest(topics=[m.DeleteTopicsRequest.DeleteTopicState(name="t")])
    cluster.ask(1, gone, 6)
    assert not list(tmp_path.glob("*/t-0*"))
    cluster.create("t", [[1, 2, 3]])
    assert produce(cluster, 1, batch("b")).base_offset == 0
    assert values(cluster, 2) == ["b"]


def test_a_folder_of_an_earlier_topic_of_the_same_name_is_not_taken_for_this_one(cluster: StaticCluster) -> None:
    produce(cluster, 1, batch("a"))
    cluster.stop(3)
    cluster.ask(1, m.DeleteTopicsRequest(topics=[m.DeleteTopicsRequest.DeleteTopicState(name="t")]), 6)
    cluster.create("t", [[1, 2, 3]])
    cluster.start(3)
    produce(cluster, 1, batch("b"))
    eventually(lambda: values(cluster, 3) == ["b"], "the third replica has the new topic's records")
