"""A controller dies after any of its writes, in the middle of anything: the next one brings it to an end."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from fencepost.cluster_impl.config.ibp import Ibp
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr, PartitionReplicas
from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.designs.zk_controller.controller.invariants import History, check_settled
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster, partition

T0 = partition("t-0")


def scene() -> MemoryCluster:
    cluster = MemoryCluster(brokers=(1, 2, 3, 4))
    cluster.elect()
    cluster.add_topic("t", (1, 2, 3), (2, 3, 1))
    cluster.settle()
    return cluster


def leader_dies(cluster: MemoryCluster) -> None:
    cluster.kill(1)


def broker_bounces(cluster: MemoryCluster) -> None:
    cluster.bounce(2)


def topic_appears(cluster: MemoryCluster) -> None:
    cluster.add_topic("u", (3, 4), (4, 3), (1, 2))


def partition_is_added(cluster: MemoryCluster) -> None:
    cluster.add_partition("t", (3, 4))


def topic_is_asked_for(cluster: MemoryCluster) -> None:
    topic = m.CreateTopicsRequest.CreatableTopic(name="u", num_partitions=2, replication_factor=2)
    cluster.ask(m.CreateTopicsRequest(topics=[topic]), version=7)


def topic_is_deleted(cluster: MemoryCluster) -> None:
    cluster.tree.create(config_znodes.topic_config("t"), config_znodes.write_config({}))
    cluster.delete_topic("t")


def topic_is_deleted_while_a_broker_is_away(cluster: MemoryCluster) -> None:
    cluster.kill(3)
    cluster.delete_topic("t")


def replicas_move(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (4, 3), "t-1": (1, 4)})
    cluster.settle()
    cluster.catch_up()


def isr_changes(cluster: MemoryCluster) -> None:
    cluster.write_isr("t-0", (1, 3))


def log_dir_fails(cluster: MemoryCluster) -> None:
    cluster.brokers[1].failed.add(T0)
    cluster.notify_log_dir(1)


def preferred_leader_is_asked_for(cluster: MemoryCluster) -> None:
    cluster.bounce(1)
    cluster.settle()
    cluster.catch_up()
    cluster.settle()
    cluster.tree.create(znodes.PREFERRED_REPLICA_ELECTION, znodes.write_partitions([T0]))


def broker_shuts_down(cluster: MemoryCluster) -> None:
    request = m.ControlledShutdownRequest(broker_id=2, broker_epoch=cluster.brokers[2].epoch)
    if cluster.controller is not None:
        cluster.ask(request, version=3)


SCENARIOS = (
    leader_dies,
    broker_bounces,
    topic_appears,
    partition_is_added,
    topic_is_asked_for,
    topic_is_deleted,
    topic_is_deleted_while_a_broker_is_away,
    replicas_move,
    isr_changes,
    log_dir_fails,
    preferred_leader_is_asked_for,
    broker_shuts_down,
)


@pytest.mark.requirement("INT-05", "INT-64", "DINT-04")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_the_next_controller_completes_what_was_under_way(scenario: Callable[[MemoryCluster], None]) -> None:
    for writes in count():
        cluster, history = scene(), History()
        history.check(cluster)
        cluster.tree.writes_left = writes
        scenario(cluster)
        cluster.settle()
        died = cluster.controller is None
        history.check(cluster)
        cluster.elect()
        for _ in range(3):
            cluster.catch_up()
            cluster.settle()
        history.check(cluster)
        check_settled(cluster)
        if scenario is not topic_is_deleted_while_a_broker_is_away:
            assert cluster.tree.names(znodes.DELETE_TOPICS) == []
        assert not cluster.tree.exists(znodes.REASSIGN_PARTITIONS)
        assert not cluster.tree.exists(znodes.PREFERRED_REPLICA_ELECTION)
        if scenario is replicas_move:
            assert cluster.assignment("t-0") == PartitionReplicas((4, 3))
            assert cluster.assignment("t-1") == PartitionReplicas((1, 4))
        if not died:
            assert writes > 0
            return


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_a_second_controller_that_dies_at_its_first_writes_leaves_no_harm(
    scenario: Callable[[MemoryCluster], None],
) -> None:
    for writes in range(8):
        cluster = scene()
        cluster.tree.writes_left = 2
        scenario(cluster)
        cluster.settle()
        cluster.tree.writes_left = None
        cluster.resign()
        cluster.tree.writes_left = writes
        cluster.elect_dying()
        cluster.elect()
        for _ in range(3):
            cluster.catch_up()
            cluster.settle()
        check_settled(cluster)


@pytest.mark.requirement("INT-06", "INT-07", "INT-11")
def test_a_new_controller_reads_everything_and_tells_all_brokers() -> None:
    cluster = scene()
    before = cluster.state("t-0")
    cluster.sent.clear()
    cluster.elect()
    assert cluster.state("t-0") == before, "there was nothing to change"
    assert [(id, type(each).__name__) for id, each in cluster.sent if id == 2] == [
        (2, "UpdateMetadataRequest"),
        (2, "LeaderAndIsrRequest"),
    ]
    assert all(each.controller_epoch == 2 for _, each in cluster.sent)  # type: ignore[attr-defined]
    check_settled(cluster)


@pytest.mark.requirement("DINT-05")
def test_what_an_old_controller_had_queued_is_refused_after_the_new_one_was_heard() -> None:
    cluster = scene()
    cluster.stalled.add(3)
    cluster.add_topic("u", (3, 4))
    cluster.settle()
    late = list(cluster.queues[3])
    cluster.stalled.clear()
    cluster.elect()
    for request in late:
        assert cluster.brokers[3].answer(request).error_code == 11  # type: ignore[attr-defined]
    check_settled(cluster)


def test_a_controller_that_meets_the_state_of_a_later_one_is_none_any_more() -> None:
    cluster = scene()
    data = znodes.write_state(LeaderAndIsr(2, 9, (2, 3), controller_epoch=2))
    cluster.tree.overwrite(znodes.state(T0), data)
    cluster.kill(1)
    cluster.settle()
    assert cluster.controller is None
    assert cluster.tree.data(znodes.state(T0)) == data


@pytest.mark.requirement("DINT-11")
def test_a_broker_that_was_registered_anew_while_there_was_no_controller_finds_new_versions() -> None:
    cluster = scene()
    cluster.resign()
    cluster.bounce(3)
    cluster.elect()
    assert (cluster.state("t-0").leader, cluster.state("t-0").leader_epoch) == (1, 1)
    assert (cluster.state("t-1").leader, cluster.state("t-1").leader_epoch) == (2, 1)
    check_settled(cluster)


@pytest.mark.requirement("DINT-11", "D343-17")
def test_a_member_that_is_another_process_than_the_one_that_was_in_sync_leaves_the_isr() -> None:
    cluster = scene()
    cluster.resign()
    cluster.bounce(1)
    cluster.elect()
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (2, (2, 3))
    assert (cluster.state("t-1").leader, cluster.state("t-1").isr) == (2, (2, 3))
    check_settled(cluster)


def test_members_that_are_all_other_processes_stay_in_the_isr() -> None:
    cluster = scene()
    cluster.resign()
    for broker_id in (1, 2, 3, 4):
        cluster.bounce(broker_id)
    cluster.elect()
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (1, (1, 2, 3))
    assert cluster.state("t-0").leader_epoch == 1
    check_settled(cluster)


@pytest.mark.requirement("DINT-11")
def test_a_broker_that_died_while_there_was_no_controller_finds_new_versions_when_it_is_back() -> None:
    cluster = scene()
    cluster.write_isr("t-0", (1, 2))
    cluster.settle()
    cluster.resign()
    cluster.kill(3)
    cluster.elect()
    before = cluster.state("t-0")
    cluster.start(3)
    cluster.settle()
    assert cluster.state("t-0").leader_epoch == before.leader_epoch + 1
    check_settled(cluster)


def test_a_follower_that_died_while_there_was_no_controller_leaves_the_isr() -> None:
    cluster = scene()
    cluster.resign()
    cluster.kill(3)
    cluster.elect()
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (1, (1, 2))
    check_settled(cluster)


def test_a_leader_that_died_while_there_was_no_controller_leads_no_more() -> None:
    cluster = scene()
    cluster.write_isr("t-0", (1,))
    cluster.settle()
    cluster.resign()
    cluster.kill(1)
    cluster.elect()
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (-1, (1,))
    check_settled(cluster)


def test_a_whole_cluster_that_starts_again_elects_leaders_with_its_isrs() -> None:
    cluster = scene()
    cluster.resign()
    for broker_id in (1, 2, 3, 4):
        cluster.kill(broker_id)
    cluster.start(3)
    cluster.elect()
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (3, (3,))
    for broker_id in (1, 2, 4):
        cluster.start(broker_id)
    cluster.settle()
    check_settled(cluster)


@pytest.mark.parametrize("level", Ibp)
def test_a_new_cluster_gets_the_znodes_that_everything_stands_on(level: Ibp) -> None:
    cluster = MemoryCluster(ibp=level)
    for path in reversed(znodes.ROOTS):
        if path not in ("/brokers", "/brokers/ids"):
            cluster.tree.delete(path) if not cluster.tree.names(path) else None
    cluster.elect()
    assert all(cluster.tree.exists(path) for path in znodes.ROOTS)


@pytest.mark.requirement("INT-64")
def test_a_new_controller_deletes_the_notifications_that_it_finds() -> None:
    cluster = scene()
    cluster.resign()
    cluster.notify_isr([T0])
    cluster.notify_log_dir(1)
    cluster.elect()
    assert cluster.tree.names(znodes.ISR_CHANGES) == []
    assert cluster.tree.names(znodes.LOG_DIR_EVENTS) == []
