"""Three real nodes of the `leader-driven` design on a real ZooKeeper, and a real client."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka.admin import ResourceType  # type: ignore[attr-defined]  # re-exported

from tests.cluster_impl.leader_driven_processes import LeaderDrivenCluster, running
from tests.cluster_impl.processes import BROKERS
from tests.cluster_impl.real_client import (
    Producing,
    alter,
    bootstrap,
    consume,
    create,
    delete,
    described,
    refuses_a_record_of_300_bytes,
)
from tests.waiting import eventually

pytestmark = pytest.mark.integration


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LeaderDrivenCluster]:
    with running(tmp_path) as cluster:
        yield cluster


def test_a_topic_is_created_written_and_read_through_every_broker(cluster: LeaderDrivenCluster) -> None:
    for node in BROKERS:
        create(f"t{node}", bootstrap(node))
        producing = Producing(f"t{node}", bootstrap(node))
        producing.send()
        producing.flush()
        assert consume(bootstrap(node), f"t{node}", 100) == producing.sent


@pytest.mark.requirement("DLD-52")
def test_settings_of_topics_and_brokers_change_at_run_time(cluster: LeaderDrivenCluster) -> None:
    for name in ("own", "of-brokers"):
        create(name, bootstrap())
        assert not refuses_a_record_of_300_bytes(bootstrap(), name)
    alter(bootstrap(4), ResourceType.TOPIC, "own", "max.message.bytes", "200")
    assert described(bootstrap(5), ResourceType.TOPIC, "own", "max.message.bytes") == ("200", 1)
    eventually(lambda: refuses_a_record_of_300_bytes(bootstrap(), "own"), "the topic's limit is in effect")
    assert not refuses_a_record_of_300_bytes(bootstrap(), "of-brokers")
    for broker in BROKERS:
        alter(bootstrap(broker), ResourceType.BROKER, str(broker), "message.max.bytes", "200")
    eventually(lambda: refuses_a_record_of_300_bytes(bootstrap(), "of-brokers"), "the brokers' limit is, too")
    assert described(bootstrap(6), ResourceType.TOPIC, "of-brokers", "max.message.bytes") == ("200", 2)


@pytest.mark.requirement("LD-26", "LD-27")
def test_nothing_is_lost_when_the_leader_is_killed_and_comes_back(cluster: LeaderDrivenCluster) -> None:
    create("t", bootstrap())
    cluster.in_sync("t")
    producing = Producing("t", bootstrap())
    producing.send()
    producing.flush()
    victim, epoch = cluster.leader("t"), cluster.epoch("t")
    cluster.nodes[victim].end()
    producing.send()
    producing.flush()
    assert cluster.leader("t") not in (victim, -1)
    assert cluster.epoch("t") > epoch
    cluster.nodes[victim].start()
    cluster.in_sync("t")
    log = cluster.nodes[victim].log()
    assert (
        log.rindex("is claimed by") < log.rindex(f"broker {victim} has 1 replicas") < log.rindex("is registered with")
    )
    assert consume(bootstrap(), "t", 200) == producing.sent


def _is_succeeded(cluster: LeaderDrivenCluster, node: int) -> bool:
    return all(cluster.leader("t", partition) not in (node, -1) for partition in range(3))


@pytest.mark.requirement("DLD-21", "DLD-48")
def test_an_orderly_end_hands_leaderships_over_at_once(cluster: LeaderDrivenCluster) -> None:
    create("t", bootstrap(), partitions=3)
    for partition in range(3):
        cluster.in_sync("t", partition=partition)
    producing = Producing("t", bootstrap())
    for node in BROKERS:
        producing.send()
        cluster.nodes[node].signal(signal.SIGTERM)
        assert cluster.nodes[node].exit_code() == 0
        assert str(node) not in cluster.children("/brokers/ids") + cluster.children("/brokers/claims")
        producing.send()
        producing.flush()
        eventually(partial(_is_succeeded, cluster, node), "other brokers lead, long before a session ends", within=0.5)
        cluster.nodes[node].start()
        for partition in range(3):
            cluster.in_sync("t", partition=partition)
    assert sorted(consume(bootstrap(), "t", len(producing.sent))) == sorted(producing.sent)


@pytest.mark.requirement("DLD-15", "DLD-16")
def test_a_broker_that_slept_through_its_session_leads_nothing_until_it_has_won_again(
    cluster: LeaderDrivenCluster,
) -> None:
    create("t", bootstrap())
    cluster.in_sync("t")
    sleeper = cluster.leader("t")
    others = [node for node in BROKERS if node != sleeper]
    cluster.nodes[sleeper].signal(signal.SIGSTOP)
    eventually(lambda: cluster.leader("t") in others, "another broker leads")
    before = cluster.leader("t"), cluster.epoch("t")
    producing = Producing("t", bootstrap(*others))
    producing.send()
    producing.flush()
    cluster.nodes[sleeper].signal(signal.SIGCONT)
    cluster.in_sync("t")
    assert (cluster.leader("t"), cluster.epoch("t")) == before
    assert cluster.nodes[sleeper].says("the ZooKeeper session has expired")
    cluster.await_serving(sleeper)
    assert consume(bootstrap(), "t", 100) == producing.sent


@pytest.mark.requirement("DLD-01")
def test_a_second_process_with_the_id_is_refused_and_touches_nothing(cluster: LeaderDrivenCluster) -> None:
    duplicate = cluster.duplicate(5)
    duplicate.start()
    try:
        assert duplicate.exit_code() == 2
    finally:
        duplicate.end()
    assert f"broker id 5 is claimed by another process (pid {cluster.nodes[5].pid}" in duplicate.log()
    assert not any(cluster.folder.glob("data-5-duplicate-*"))
    create("t", bootstrap())
    cluster.in_sync("t")


@pytest.mark.requirement("DLD-01")
def test_an_original_whose_id_was_taken_while_it_slept_ends(cluster: LeaderDrivenCluster) -> None:
    original = cluster.nodes[5]
    original.signal(signal.SIGSTOP)
    younger = cluster.duplicate(5)
    younger.start()
    try:
        eventually(lambda: younger.says("the node has started"), "the younger process has the id")
        original.signal(signal.SIGCONT)
        assert original.exit_code() == 1
        assert f"broker id 5 was claimed by another process (pid {younger.pid}" in original.log()
    finally:
        younger.end()


@pytest.mark.requirement("LD-04", "DLD-12", "LD-25")
def test_a_broker_that_was_away_when_its_topic_was_deleted_closes_it_when_it_is_back(
    cluster: LeaderDrivenCluster,
) -> None:
    create("t", bootstrap(), partitions=2)
    for partition in range(2):
        cluster.in_sync("t", partition=partition)
    assert cluster.folders(6) == ["t-0", "t-1"]
    cluster.nodes[6].end()
    eventually(lambda: "6" not in cluster.children("/brokers/ids"), "broker 6 is gone")
    delete("t", bootstrap(4, 5))
    assert cluster.children("/brokers/topics") == []
    assert cluster.folders(4) == cluster.folders(5) == []
    assert len(cluster.children("/brokers/state/6")) >= 2
    cluster.nodes[6].start()
    eventually(lambda: cluster.folders(6) == [], "broker 6 has closed its replicas")
    eventually(lambda: cluster.children("/brokers/state/6") == [], "its queue is empty")
    assert cluster.nodes[6].says("completed close-replica for topic t partition 1, request from leader")


@pytest.mark.requirement("LD-07", "LD-08")
def test_the_life_of_a_state_change_is_in_the_log_and_in_the_metrics(cluster: LeaderDrivenCluster) -> None:
    create("t", bootstrap(4))
    cluster.in_sync("t")
    for node in BROKERS:
        words = f"for topic t partition 0, to broker id {node}, at epoch -1"
        assert cluster.nodes[4].says(f"admin, broker id 4, requested start-replica {words}")
        assert cluster.nodes[node].says(
            f"follower, broker id {node}, completed start-replica for topic t partition 0, request from leader -1, "
            "at epoch -1"
        )
        eventually(lambda node=node: cluster.metrics(node)["own_queue"] == 0, f"the queue of broker {node} is empty")  # type: ignore[misc]
    roles = ("leading", "following")
    eventually(lambda: [_sum(cluster, role) for role in roles] == [1, 2], "the metrics know leaders and followers")
    found = {node: cluster.metrics(node) for node in BROKERS}
    # At least: a leader asks a follower once more that is slow to fetch.
    assert all(each["state_changes"]["completed"]["start-replica"] >= 1 for each in found.values())
    assert found[4]["state_changes"]["requested"]["start-replica"] >= 3
    assert all(each["queue_full"] == 0 for each in found.values())


def _sum(cluster: LeaderDrivenCluster, figure: str) -> int:
    return sum(cluster.metrics(node)[figure] for node in BROKERS)


@pytest.mark.requirement("DLD-25")
def test_a_folder_that_nothing_assigns_to_the_broker_is_removed_at_its_start(cluster: LeaderDrivenCluster) -> None:
    create("t", bootstrap())
    cluster.in_sync("t")
    cluster.nodes[6].end()
    cluster.kazoo.set("/brokers/topics/t/0/replicas", b"[4,5]")
    cluster.nodes[6].start()
    eventually(lambda: cluster.nodes[6].says("t-0: its folder is deleted"), "the folder is renamed")
    eventually(lambda: cluster.folders(6) == [], "the folder is removed")


@pytest.mark.requirement("DLD-20")
def test_a_leader_whose_log_dir_fails_lets_another_lead(cluster: LeaderDrivenCluster) -> None:
    create("t", bootstrap())
    cluster.in_sync("t")
    leader = cluster.leader("t")
    [home] = [path for index in (0, 1) if (path := cluster.log_dir(leader, index)).joinpath("t-0").exists()]
    home.rename(home.with_name(f"{home.name}-away"))
    home.write_text("no directory")
    producing = Producing("t", bootstrap())
    producing.send()
    producing.flush()
    # Open files can still be written; the leader learns of the failure at its next checkpoint.
    eventually(lambda: cluster.nodes[leader].says("no longer lead or follow"), "the log dir has failed")
    eventually(lambda: cluster.leader("t") not in (leader, -1), "another broker leads")
    producing.send()
    producing.flush()
    assert consume(bootstrap(), "t", 200) == producing.sent
