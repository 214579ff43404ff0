"""Agents of several brokers over one tree: election, leading, following, closing."""

from __future__ import annotations

import pytest

from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.partition.agent import State
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster, partition


@pytest.fixture
def cluster() -> MemoryCluster:
    cluster = MemoryCluster(4, 5, 6)
    cluster.create_topic("t", [4, 5, 6])
    cluster.until(lambda: not cluster.admin[0].is_ready and cluster.admin[0].is_over)
    cluster.pass_time(2.0)
    return cluster


def test_the_preferred_replica_of_a_new_partition_leads_and_all_are_in_sync(cluster: MemoryCluster) -> None:
    assert cluster.leader(partition("t-0")) == znodes.Leader(4, 0)
    cluster.watcher.at_rest()


def test_another_replica_leads_at_a_later_epoch_when_the_leader_dies(cluster: MemoryCluster) -> None:
    cluster.kill(4)
    cluster.pass_time(3.0)
    leader = cluster.leader(partition("t-0"))
    assert leader is not None and leader.broker_id in (5, 6)
    assert leader.epoch >= 1
    cluster.start(4)
    cluster.pass_time(3.0)
    cluster.watcher.at_rest()


@pytest.mark.parametrize("target", [(4, 5), (5, 6, 7), (7,), (6, 5, 4), (7, 5)])
def test_a_partition_moves_to_other_replicas(cluster: MemoryCluster, target: tuple[int, ...]) -> None:
    cluster.start(7)
    cluster.pass_time(1.0)
    cluster.reassign("t-0", *target)
    cluster.pass_time(8.0)
    cluster.watcher.at_rest()


def test_a_deleted_topic_leaves_nothing(cluster: MemoryCluster) -> None:
    cluster.delete_topic("t")
    cluster.pass_time(6.0)
    assert not cluster.partitions()
    assert not cluster.tree.names(znodes.TOPICS)
    cluster.watcher.at_rest()
    assert {each.state for broker in cluster.brokers.values() for each in broker.agents.values()} == {State.STOPPED}
