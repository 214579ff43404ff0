"""Three real nodes of the `zk-controller` design on a real ZooKeeper, and a real client."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.cluster_impl.processes import BROKERS
from tests.cluster_impl.real_client import Producing, bootstrap, consume, create, is_created
from tests.cluster_impl.zk_processes import ZkCluster, running
from tests.waiting import eventually

pytestmark = pytest.mark.integration


@pytest.fixture
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ZkCluster]:
    with running(tmp_path, request.param) as cluster:
        yield cluster


def at(*levels: str) -> pytest.MarkDecorator:
    """Which levels a test runs at: those at which its subject differs."""
    return pytest.mark.parametrize("cluster", levels, indirect=True)


def _is_among(asked: Callable[[], int], expected: list[int]) -> bool:
    return asked() in expected


def in_sync(cluster: ZkCluster, topic: str, *expected: int, partition: int = 0) -> None:
    eventually(
        lambda: sorted(cluster.state(topic, partition).get("isr", [])) == sorted(expected or BROKERS),
        f"the ISR of {topic}-{partition} is {expected or BROKERS}",
    )


@at("2.6")
def test_a_topic_is_created_written_and_read_through_every_broker(cluster: ZkCluster) -> None:
    for node in BROKERS:
        create(f"t{node}", bootstrap(node))
        producing = Producing(f"t{node}", bootstrap(node))
        producing.send()
        producing.flush()
        assert consume(bootstrap(node), f"t{node}", 100) == producing.sent


@at("2.0", "2.1", "2.6")
def test_nothing_is_lost_when_the_leader_and_then_the_controller_are_killed(cluster: ZkCluster) -> None:
    create("t", bootstrap())
    producing = Producing("t", bootstrap())
    producing.send()
    producing.flush()
    for of in (lambda: cluster.state("t")["leader"], cluster.controller):
        victim = of()
        in_sync(cluster, "t")
        producing.send()
        cluster.nodes[victim].end()
        producing.send()
        producing.flush()
        in_office = [node for node in BROKERS if node != victim]
        eventually(partial(_is_among, cluster.controller, in_office), "one of the others is the controller")
        cluster.nodes[victim].start()
    in_sync(cluster, "t")
    assert consume(bootstrap(), "t", 500) == producing.sent


@at("2.0", "2.6")
def test_brokers_shut_down_in_turn_and_no_produce_request_fails(cluster: ZkCluster) -> None:
    create("t", bootstrap(), partitions=3)
    producing = Producing("t", bootstrap())
    for node in BROKERS:
        producing.send()
        cluster.nodes[node].signal(signal.SIGTERM)
        producing.send()
        assert cluster.nodes[node].exit_code() == 0
        producing.send()
        assert cluster.children("/brokers/ids") == sorted(set(map(str, BROKERS)) - {str(node)})
        assert all(cluster.state("t", partition)["leader"] not in (node, -1) for partition in range(3))
        cluster.nodes[node].start()
        for partition in range(3):
            in_sync(cluster, "t", *BROKERS, partition=partition)
    producing.flush()
    assert sorted(consume(bootstrap(), "t", len(producing.sent))) == sorted(producing.sent)


@at("2.1")
def test_all_are_killed_and_started_again_and_nothing_is_lost(cluster: ZkCluster) -> None:
    create("t", bootstrap())
    producing = Producing("t", bootstrap())
    producing.send()
    producing.flush()
    for node in BROKERS:
        cluster.nodes[node].end()
    for node in BROKERS:
        cluster.nodes[node].start()
    in_sync(cluster, "t")
    producing.send()
    producing.flush()
    assert consume(bootstrap(), "t", 200) == producing.sent


@pytest.mark.parametrize("whose", ["leader", "follower"])
@at("2.0", "2.6")
def test_a_failed_log_dir_takes_its_replicas_out_and_no_others(cluster: ZkCluster, whose: str) -> None:
    create("t", bootstrap(), partitions=2)
    leader = cluster.state("t")["leader"]
    node = leader if whose == "leader" else next(each for each in BROKERS if each != leader)
    producing = Producing("t", bootstrap())
    producing.send()
    producing.flush()
    home = next(cluster.log_dir(node, index) for index in (0, 1) if (cluster.log_dir(node, index) / "t-0").exists())
    home.rename(home.with_suffix(".away"))
    home.write_text("a file where a directory was\n")
    rest = [each for each in BROKERS if each != node]
    in_sync(cluster, "t", *rest)
    assert cluster.state("t")["leader"] in rest
    assert cluster.nodes[node].says(f"the log dir {home} has failed")
    assert node in cluster.state("t", 1)["isr"]
    eventually(lambda: not cluster.children("/log_dir_event_notification"), "the notification is dealt with")
    producing.send()
    producing.flush()
    assert len(consume(bootstrap(*rest), "t", 200)) == 200


@at("2.6")
def test_a_broker_without_any_log_dir_ends_with_a_message(cluster: ZkCluster) -> None:
    create("t", bootstrap(), partitions=2)
    for index in (0, 1):
        home = cluster.log_dir(4, index)
        home.rename(home.with_suffix(".away"))
        home.write_text("a file where a directory was\n")
    assert cluster.nodes[4].exit_code() == 1
    assert "all log dirs have failed" in cluster.nodes[4].log().splitlines()[-1]


@at("2.0", "2.6")
def test_a_leader_that_slept_through_its_session_comes_back_as_another_incarnation(cluster: ZkCluster) -> None:
    create("t", bootstrap())
    producing = Producing("t", bootstrap())
    producing.send()
    producing.flush()
    sleeper = cluster.state("t")["leader"]
    epoch = cluster.epoch(sleeper)
    cluster.nodes[sleeper].signal(signal.SIGSTOP)
    try:
        eventually(lambda: cluster.state("t")["leader"] not in (sleeper, -1), "another replica leads")
        producing.send()
        producing.flush()
    finally:
        cluster.nodes[sleeper].signal(signal.SIGCONT)
    in_sync(cluster, "t")
    assert cluster.epoch(sleeper) > epoch
    producing.send()
    producing.flush()
    assert consume(bootstrap(), "t", 300) == producing.sent


@at("2.0", "2.6")
def test_brokers_outlive_their_zookeeper(cluster: ZkCluster) -> None:
    create("t", bootstrap())
    producing = Producing("t", bootstrap())
    producing.send()
    producing.flush()
    cluster.server.kill()
    producing.send()
    producing.flush()
    cluster.server.start()
    cluster.server.await_serving()
    cluster.await_serving()
    eventually(lambda: is_created("after", bootstrap()), "a topic is created")
    in_sync(cluster, "t")
    in_sync(cluster, "after")
    assert consume(bootstrap(), "t", 200) == producing.sent


@at("2.6")
def test_a_second_process_with_an_id_ends_with_a_message_and_disturbs_no_other(cluster: ZkCluster) -> None:
    create("t", bootstrap())
    epoch = cluster.epoch(4)
    second = cluster.duplicate(4)
    second.start()
    try:
        assert second.exit_code() == 2
    finally:
        second.end()
    assert "broker id 4 is registered by another ZooKeeper session" in second.log().splitlines()[-1]
    assert cluster.epoch(4) == epoch
    producing = Producing("t", bootstrap())
    producing.send()
    producing.flush()


@at("2.0")
def test_the_level_is_raised_and_lowered_again_under_load_broker_by_broker(cluster: ZkCluster) -> None:
    """KIP-343, Compatibility: the second roll of a double roll, and the way back."""
    create("t", bootstrap())
    producing = Producing("t", bootstrap())
    for level in ("2.6", "2.0"):
        for node in BROKERS:
            producing.send()
            cluster.nodes[node].signal(signal.SIGTERM)
            assert cluster.nodes[node].exit_code() == 0
            producing.send()
            cluster.at_level(node, level)
            cluster.nodes[node].start()
            in_sync(cluster, "t")
            expected = 4 if level == "2.0" else 5
            assert cluster.json(f"/brokers/ids/{node}")["version"] == expected
    producing.flush()
    assert consume(bootstrap(), "t", len(producing.sent)) == producing.sent
