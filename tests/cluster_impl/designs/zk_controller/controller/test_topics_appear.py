from __future__ import annotations

import json

import pytest

from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.designs.zk_controller.controller.invariants import check_settled
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster, partition


@pytest.fixture
def cluster() -> MemoryCluster:
    cluster = MemoryCluster(brokers=(1, 2, 3))
    cluster.elect()
    return cluster


@pytest.mark.requirement("INT-03", "INT-34", "INT-09")
def test_a_topic_that_appears_in_zookeeper_gets_leaders(cluster: MemoryCluster) -> None:
    cluster.add_topic("t", (1, 2), (2, 3))
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(1, 0, (1, 2), 1)
    assert cluster.state("t-1") == LeaderAndIsr(2, 0, (2, 3), 1)
    check_settled(cluster)


@pytest.mark.requirement("INT-22", "INT-23")
def test_its_replicas_get_that_it_is_new_and_all_brokers_which_one_leads_it(cluster: MemoryCluster) -> None:
    cluster.sent.clear()
    topic_id = cluster.add_topic("t", (1, 2))
    cluster.settle()
    requests = {id: each for id, each in cluster.sent if isinstance(each, m.LeaderAndIsrRequest)}
    assert requests.keys() == {1, 2}
    [topic] = requests[1].topic_states
    assert (topic.topic_name, topic.topic_id, topic.partition_states[0].is_new) == ("t", topic_id, True)
    assert [(each.broker_id, each.host_name, each.port) for each in requests[2].live_leaders] == [(1, "node-1", 9090)]
    informed = {id for id, each in cluster.sent if isinstance(each, m.UpdateMetadataRequest)}
    assert informed == {1, 2, 3}


def test_a_topic_of_old_software_gets_an_id(cluster: MemoryCluster) -> None:
    cluster.tree.create(znodes.topic("t"), b'{"version":1,"partitions":{"0":[1,2]}}')
    cluster.settle()
    written = json.loads(cluster.tree.data(znodes.topic("t")))
    assert written["version"] == 3
    assert written["topic_id"]
    assert written["partitions"] == {"0": [1, 2]}
    check_settled(cluster)


@pytest.mark.requirement("INT-35", "INT-10")
def test_partitions_that_are_added_to_a_topic_get_leaders(cluster: MemoryCluster) -> None:
    cluster.add_topic("t", (1, 2))
    cluster.settle()
    cluster.add_partition("t", (3, 1))
    cluster.settle()
    assert cluster.state("t-1") == LeaderAndIsr(3, 0, (3, 1), 1)
    cluster.add_partition("t", (2, 3))
    cluster.settle()
    assert cluster.state("t-2") == LeaderAndIsr(2, 0, (2, 3), 1)
    check_settled(cluster)


def test_partitions_without_a_live_replica_wait_for_one(cluster: MemoryCluster) -> None:
    cluster.add_topic("t", (4, 5))
    cluster.settle()
    assert not cluster.tree.exists(znodes.state(partition("t-0")))
    check_settled(cluster)
    cluster.start(5)
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(5, 0, (5,), 1)
    check_settled(cluster)


def test_replicas_without_a_live_broker_are_not_in_the_first_isr(cluster: MemoryCluster) -> None:
    cluster.add_topic("t", (4, 2, 3))
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(2, 0, (2, 3), 1)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"version":3,"partitions":{"0":"x"}}'])
def test_a_topic_that_makes_no_sense_is_left_alone_until_it_is_mended(cluster: MemoryCluster, data: bytes) -> None:
    cluster.tree.create(znodes.topic("t"), data)
    cluster.add_topic("u", (1,))
    cluster.settle()
    assert cluster.state("u-0").leader == 1
    assert not cluster.tree.exists(znodes.partitions("t"))


@pytest.mark.parametrize("is_there_first", [True, False])
def test_a_topic_that_was_mended_gets_leaders(is_there_first: bool) -> None:
    cluster = MemoryCluster(brokers=(1, 2, 3))
    if is_there_first:
        cluster.tree.create(znodes.topic("t"), b"{}")
    cluster.elect()
    if not is_there_first:
        cluster.tree.create(znodes.topic("t"), b"{}")
        cluster.settle()
    cluster.tree.overwrite(znodes.topic("t"), b'{"version":1,"partitions":{"0":[1,2]}}')
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(1, 0, (1, 2), 1)
    check_settled(cluster)


def test_a_topic_that_was_mended_is_deleted_where_that_was_asked_for(cluster: MemoryCluster) -> None:
    cluster.tree.create(znodes.topic("t"), b"{}")
    cluster.delete_topic("t")
    cluster.settle()
    assert cluster.tree.exists(znodes.topic("t"))
    cluster.tree.overwrite(znodes.topic("t"), b'{"version":1,"partitions":{"0":[1,2]}}')
    cluster.settle()
    assert not cluster.tree.exists(znodes.topic("t"))
    assert cluster.tree.names(znodes.DELETE_TOPICS) == []


@pytest.mark.requirement("DINT-13")
@pytest.mark.parametrize("leader_fails", [False, True])
def test_a_state_that_makes_no_sense_is_adopted_when_it_is_mended(cluster: MemoryCluster, leader_fails: bool) -> None:
    """It is read during the term because the leader notified its own write."""
    cluster.add_topic("t", (1, 2, 3))
    cluster.settle()
    path, known = znodes.state(partition("t-0")), cluster.state("t-0")
    cluster.tree.overwrite(path, b"{}")
    cluster.notify_isr([partition("t-0")])
    cluster.settle()
    assert cluster.tree.data(path) == b"{}"
    if leader_fails:
        cluster.kill(1)
        cluster.settle()
        assert cluster.tree.data(path) == b"{}"
    cluster.tree.overwrite(path, znodes.write_state(known))
    cluster.settle()
    assert cluster.state("t-0").leader == (2 if leader_fails else 1)
    check_settled(cluster)


def test_a_topic_that_was_removed_by_hand_is_forgotten(cluster: MemoryCluster) -> None:
    cluster.add_topic("t", (1,))
    cluster.settle()
    for path in (*map(str, reversed([each for each in cluster.tree.paths() if each.startswith("/brokers/topics/t")])),):
        cluster.tree.delete(path)
    cluster.settle()
    cluster.add_topic("t", (2,))
    cluster.settle()
    assert cluster.state("t-0").leader == 2


@pytest.mark.requirement("DINT-15")
def test_a_topic_that_appears_while_the_controller_reads_is_not_missed(cluster: MemoryCluster) -> None:
    cluster.add_topic("t", (1,))
    cluster.watches()
    cluster.add_topic("u", (2,))
    cluster.settle()
    assert (cluster.state("t-0").leader, cluster.state("u-0").leader) == (1, 2)
