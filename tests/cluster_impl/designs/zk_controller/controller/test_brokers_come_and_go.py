from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.designs.zk_controller.controller.invariants import check_settled
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster, partition

T0 = partition("t-0")


@pytest.fixture
def cluster() -> MemoryCluster:
    """Three legacy brokers, and t-0 on all of them, led by 1."""
    cluster = MemoryCluster(brokers=(1, 2, 3))
    cluster.elect()
    cluster.add_topic("t", (1, 2, 3))
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(1, 0, (1, 2, 3), 1)
    cluster.sent.clear()
    return cluster


def kinds(cluster: MemoryCluster, broker_id: int) -> list[str]:
    return [type(request).__name__.removesuffix("Request") for id, request in cluster.sent if id == broker_id]


@pytest.mark.requirement("INT-28", "INT-33", "INT-53", "INT-44")
def test_a_leader_that_dies_is_followed_by_a_member_of_the_isr(cluster: MemoryCluster) -> None:
    cluster.kill(1)
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(2, 1, (2, 3), 1, version=1)
    check_settled(cluster)


def test_a_follower_that_dies_leaves_the_isr_at_a_new_leader_epoch(cluster: MemoryCluster) -> None:
    cluster.kill(3)
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(1, 1, (1, 2), 1, version=1)
    check_settled(cluster)


@pytest.mark.requirement("DINT-11")
def test_a_broker_that_dies_outside_the_isr_leaves_a_new_version_behind(cluster: MemoryCluster) -> None:
    cluster.write_isr("t-0", (1, 2))
    cluster.settle()
    before = cluster.state("t-0")
    cluster.kill(3)
    cluster.settle()
    after = cluster.state("t-0")
    assert (after.leader, after.isr, after.leader_epoch) == (1, (1, 2), before.leader_epoch + 1)


@pytest.mark.requirement("DINT-11", "DINT-09")
def test_a_broker_that_is_another_process_now_failed_and_came_up(cluster: MemoryCluster) -> None:
    """Deleted and created between two looks at the list: the czxid tells."""
    cluster.bounce(1)
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(2, 1, (2, 3), 1, version=1)
    assert kinds(cluster, 1) == ["UpdateMetadata", "LeaderAndIsr"]
    check_settled(cluster)


def test_a_follower_that_is_another_process_now_leaves_the_isr(cluster: MemoryCluster) -> None:
    cluster.bounce(2)
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(1, 1, (1, 3), 1, version=1)
    check_settled(cluster)


@pytest.mark.requirement("INT-43")
def test_a_broker_that_cannot_be_reached_is_not_given_up(cluster: MemoryCluster) -> None:
    cluster.stalled.add(1)
    cluster.kill(3)
    cluster.settle()
    cluster.pass_time(3600)
    assert cluster.state("t-0").leader == 1


@pytest.mark.requirement("INT-25", "INT-26", "INT-27")
def test_a_new_broker_gets_all_metadata_and_then_all_its_partitions(cluster: MemoryCluster) -> None:
    cluster.kill(3)
    cluster.settle()
    cluster.sent.clear()
    cluster.start(3)
    cluster.settle()
    (_, metadata), (_, requests) = ((id, each) for id, each in cluster.sent if id == 3)
    assert isinstance(metadata, m.UpdateMetadataRequest)
    assert metadata.type == 2
    assert {each.id: each.broker_epoch for each in metadata.live_brokers} == {
        id: broker.epoch for id, broker in cluster.brokers.items()
    }
    assert isinstance(requests, m.LeaderAndIsrRequest)
    assert requests.type == 2
    assert [each.topic_name for each in requests.topic_states] == ["t"]
    assert kinds(cluster, 1) == ["UpdateMetadata"]
    check_settled(cluster)


@pytest.mark.requirement("DINT-10")
def test_the_controllers_own_broker_is_commanded_as_well(cluster: MemoryCluster) -> None:
    assert cluster.config.controller_id == 1
    cluster.kill(3)
    cluster.settle()
    assert kinds(cluster, 1) == ["LeaderAndIsr", "UpdateMetadata"]


@pytest.mark.requirement("DINT-13")
def test_without_a_member_of_the_isr_no_replica_leads_until_one_is_back(cluster: MemoryCluster) -> None:
    cluster.write_isr("t-0", (1,))
    cluster.settle()
    cluster.kill(1)
    cluster.settle()
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (-1, (1,))
    check_settled(cluster)
    cluster.start(1)
    cluster.settle()
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (1, (1,))
    check_settled(cluster)


@pytest.mark.requirement("DINT-13")
@pytest.mark.parametrize(
    ("default", "config", "leader"),
    [(False, None, -1), (True, None, 2), (False, "true", 2), (True, "false", -1)],
)
def test_an_unclean_election_is_held_only_where_it_is_configured(
    default: bool, config: str | None, leader: int
) -> None:
    cluster = MemoryCluster(brokers=(1, 2), unclean_leader_election=default)
    cluster.elect()
    cluster.add_topic("t", (1, 2))
    if config is not None:
        data = config_znodes.write_config({"unclean.leader.election.enable": config})
        cluster.tree.create(config_znodes.topic_config("t"), data)
    cluster.settle()
    cluster.write_isr("t-0", (1,))
    cluster.kill(1)
    cluster.settle()
    assert cluster.state("t-0").leader == leader
    check_settled(cluster)


def test_all_brokers_die_and_the_first_to_return_that_was_in_sync_leads(cluster: MemoryCluster) -> None:
    for broker_id in (1, 2, 3):
        cluster.kill(broker_id)
    cluster.settle()
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (-1, (1, 2, 3))
    cluster.start(3)
    cluster.settle()
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (3, (3,))
    check_settled(cluster)


@pytest.mark.requirement("INT-31", "INT-67")
def test_an_isr_that_a_leader_wrote_a_moment_ago_is_not_overwritten(cluster: MemoryCluster) -> None:
    """The notification is not written yet: only the compare-and-set can see it."""
    cluster.write_isr("t-0", (1, 3), notify=False)
    cluster.kill(1)
    cluster.settle()
    assert cluster.state("t-0") == LeaderAndIsr(3, 1, (3,), 1, version=2)
    check_settled(cluster)


def test_a_registration_that_makes_no_sense_is_treated_as_none(cluster: MemoryCluster) -> None:
    cluster.tree.create(znodes.broker(9), b"{}")
    cluster.settle()
    assert cluster.controller is not None
    assert set(cluster.controller.registered) == {1, 2, 3}
    check_settled(cluster)


def test_requests_that_waited_for_a_dead_process_are_not_meant_for_the_next_one(cluster: MemoryCluster) -> None:
    cluster.stalled.add(2)
    cluster.kill(3)
    cluster.watches()
    cluster.bounce(2)
    cluster.stalled.clear()
    cluster.settle()
    check_settled(cluster)
