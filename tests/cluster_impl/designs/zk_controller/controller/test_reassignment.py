from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.topics.reassignment import towards
from fencepost.cluster_impl.designs.zk_controller.znodes import PartitionReplicas
from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.designs.zk_controller.controller.invariants import check_settled
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import MemoryCluster, partition

pytestmark = pytest.mark.requirement("INT-04", "DINT-20")

T0 = partition("t-0")


@pytest.fixture
def cluster() -> MemoryCluster:
    """t-0 on 1 and 2 of four brokers."""
    cluster = MemoryCluster(brokers=(1, 2, 3, 4))
    cluster.elect()
    cluster.add_topic("t", (1, 2), (2, 1))
    cluster.settle()
    return cluster


def is_asked(cluster: MemoryCluster) -> bool:
    return cluster.tree.exists(znodes.REASSIGN_PARTITIONS)


def shut_down(cluster: MemoryCluster, broker_id: int) -> None:
    """Its leaderships go, and it leaves the ISRs."""
    epoch = cluster.brokers[broker_id].epoch
    cluster.ask(m.ControlledShutdownRequest(broker_id=broker_id, broker_epoch=epoch), version=3)
    cluster.settle()


def test_a_reassignment_waits_for_the_new_replicas_and_then_drops_the_old_ones(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (3, 4)})
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((3, 4, 1, 2), adding=(3, 4), removing=(1, 2))
    assert is_asked(cluster)
    assert cluster.brokers[3].replicas[T0].is_new
    check_settled(cluster)
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((3, 4))
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (3, (3, 4))
    assert not is_asked(cluster)
    assert T0 not in cluster.brokers[1].disk.folders
    check_settled(cluster)


@pytest.mark.requirement("INT-38")
def test_a_leader_that_stays_goes_on_leading(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (3, 1)})
    cluster.settle()
    cluster.catch_up()
    cluster.settle()
    assert (cluster.state("t-0").leader, set(cluster.state("t-0").isr)) == (1, {1, 3})
    check_settled(cluster)


def test_replicas_in_another_order_need_no_catch_up(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (2, 1)})
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((2, 1))
    assert cluster.state("t-0").leader == 1
    assert not is_asked(cluster)
    check_settled(cluster)


def test_replicas_in_another_order_do_not_wait_for_one_that_is_away(cluster: MemoryCluster) -> None:
    cluster.add_topic("u", (4, 2))
    cluster.settle()
    cluster.kill(2)
    cluster.settle()
    cluster.reassign({"u-0": (2, 4)})
    cluster.settle()
    assert cluster.assignment("u-0") == PartitionReplicas((2, 4))
    assert cluster.state("u-0").leader == 4
    assert not is_asked(cluster)
    check_settled(cluster)


def test_replicas_of_a_partition_without_a_possible_leader_change_their_order(cluster: MemoryCluster) -> None:
    cluster.add_topic("u", (8, 9))
    cluster.settle()
    cluster.reassign({"u-0": (9, 8)})
    cluster.settle()
    cluster.start(8)
    cluster.settle()
    assert cluster.state("u-0").leader == 8
    check_settled(cluster)


def test_a_reassignment_to_what_is_there_already_is_crossed_out(cluster: MemoryCluster) -> None:
    before = cluster.state("t-0")
    cluster.reassign({"t-0": (1, 2)})
    cluster.settle()
    assert not is_asked(cluster)
    assert cluster.state("t-0") == before


def test_a_new_replica_that_fails_is_waited_for(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (3, 4)})
    cluster.settle()
    cluster.kill(4)
    cluster.settle()
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0").is_reassigned
    assert is_asked(cluster)
    assert cluster.state("t-0").leader == 1
    check_settled(cluster)
    cluster.start(4)
    cluster.settle()
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((3, 4))
    assert not is_asked(cluster)
    check_settled(cluster)


def test_an_old_replica_that_is_away_removes_its_log_when_it_is_back(cluster: MemoryCluster) -> None:
    cluster.kill(2)
    cluster.settle()
    cluster.reassign({"t-0": (1, 3)})
    cluster.settle()
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((1, 3))
    cluster.start(2)
    cluster.settle()
    assert T0 not in cluster.brokers[2].disk.folders
    check_settled(cluster)


def test_the_leader_may_fail_in_the_middle(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (3, 4)})
    cluster.settle()
    cluster.kill(1)
    cluster.settle()
    assert cluster.state("t-0").leader == 2
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((3, 4))
    check_settled(cluster)


def test_an_isr_without_a_notification_is_seen_by_the_watch_on_the_state(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (1, 3)})
    cluster.settle()
    cluster.write_isr("t-0", (1, 3), notify=False)
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((1, 3))
    check_settled(cluster)


def test_another_target_in_the_middle_replaces_the_first_one(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (3, 4)})
    cluster.settle()
    cluster.tree.delete(znodes.REASSIGN_PARTITIONS)
    cluster.reassign({"t-0": (1, 3)})
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((1, 3, 2), adding=(3,), removing=(2,))
    assert T0 not in cluster.brokers[4].disk.folders
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((1, 3))
    assert not is_asked(cluster)
    check_settled(cluster)


def test_back_to_where_it_came_from_in_the_middle_undoes_it(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (3, 4)})
    cluster.settle()
    cluster.tree.delete(znodes.REASSIGN_PARTITIONS)
    cluster.reassign({"t-0": (1, 2)})
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((1, 2))
    assert not is_asked(cluster)
    assert T0 not in cluster.brokers[3].disk.folders
    check_settled(cluster)


def ask_for_another_target(cluster: MemoryCluster, *replicas: int) -> None:
    cluster.tree.delete(znodes.REASSIGN_PARTITIONS)
    cluster.reassign({"t-0": replicas})
    cluster.settle()


def only_a_new_one_is_in_sync(cluster: MemoryCluster) -> None:
    """From 1 and 2 to 3 and 4, in the middle of it: 3 leads alone."""
    cluster.start(5)
    cluster.start(6)
    cluster.reassign({"t-0": (3, 4)})
    cluster.settle()
    cluster.write_isr("t-0", (1, 2, 3))
    cluster.settle()
    shut_down(cluster, 1)
    shut_down(cluster, 2)


def test_another_target_in_the_middle_takes_the_leadership_from_a_leader_that_goes(cluster: MemoryCluster) -> None:
    only_a_new_one_is_in_sync(cluster)
    assert cluster.state("t-0").leader == 3
    cluster.bounce(2)
    cluster.settle()
    cluster.write_isr("t-0", (3, 2), by=3)
    cluster.settle()
    ask_for_another_target(cluster, 5, 6)
    assert cluster.assignment("t-0") == PartitionReplicas((5, 6, 1, 2), adding=(5, 6), removing=(1, 2))
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (2, (2,))
    assert T0 not in cluster.brokers[3].disk.folders
    check_settled(cluster)
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((5, 6))
    check_settled(cluster)


@pytest.mark.requirement("DINT-13")
@pytest.mark.parametrize("target", [(1, 2), (5, 6)])
def test_another_target_in_the_middle_is_refused_where_none_of_its_replicas_is_in_sync(
    cluster: MemoryCluster, target: tuple[int, ...]
) -> None:
    only_a_new_one_is_in_sync(cluster)
    assert cluster.state("t-0").isr == (3,)
    ask_for_another_target(cluster, *target)
    assert cluster.assignment("t-0").target == (3, 4)
    assert not is_asked(cluster)
    assert T0 in cluster.brokers[3].disk.folders
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (3, (3,))
    check_settled(cluster)
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((3, 4))
    check_settled(cluster)


@pytest.mark.requirement("DINT-13")
@pytest.mark.parametrize("leader", [1, 3])
def test_an_isr_that_shrinks_at_the_last_moment_loses_no_log(cluster: MemoryCluster, leader: int) -> None:
    """Its leader writes it by itself, between the controller's look at it and what the controller does."""
    cluster.reassign({"t-0": (3, 4)})
    cluster.settle()
    if leader == 3:
        cluster.write_isr("t-0", (1, 2, 3))
        cluster.settle()
        shut_down(cluster, 1)
        shut_down(cluster, 2)
        for broker_id in (1, 2):
            cluster.bounce(broker_id)
        cluster.settle()
        cluster.write_isr("t-0", (1, 2, 3), by=3)
        cluster.settle()
    meanwhile = MeanwhileShrinks(cluster, leader)
    if leader == 1:
        cluster.write_isr("t-0", (1, 2, 3, 4))
        cluster.tree.meanwhile = meanwhile
        cluster.settle()
    else:
        cluster.tree.meanwhile = meanwhile
        ask_for_another_target(cluster, 1, 2)
    assert meanwhile.isr == (leader,)
    assert cluster.state("t-0").leader == leader
    assert T0 in cluster.brokers[leader].disk.folders
    check_settled(cluster)
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((3, 4))
    check_settled(cluster)


class MeanwhileShrinks:
    def __init__(self, cluster: MemoryCluster, leader: int) -> None:
        self._cluster = cluster
        self._leader = leader
        self.isr: tuple[int, ...] = ()

    def __call__(self) -> None:
        assert self._cluster.state("t-0").leader == self._leader
        alone = replace(self._cluster.state("t-0"), isr=(self._leader,))
        self._cluster.tree.overwrite(znodes.state(T0), znodes.write_state(alone))
        self.isr = alone.isr


def test_a_partition_without_a_possible_leader_is_led_by_the_replicas_that_it_moves_to(
    cluster: MemoryCluster,
) -> None:
    cluster.add_topic("u", (8, 9))
    cluster.settle()
    cluster.reassign({"u-0": (3, 4)})
    cluster.settle()
    assert cluster.assignment("u-0") == PartitionReplicas((3, 4))
    assert (cluster.state("u-0").leader, cluster.state("u-0").isr) == (3, (3, 4))
    assert not is_asked(cluster)
    check_settled(cluster)


def test_a_reassignment_without_a_leader_goes_on_when_a_replica_can_lead(cluster: MemoryCluster) -> None:
    cluster.kill(3)
    cluster.settle()
    cluster.add_topic("u", (3, 9))
    cluster.settle()
    cluster.reassign({"u-0": (3,)})
    cluster.settle()
    assert is_asked(cluster)
    cluster.start(3)
    cluster.settle()
    assert cluster.assignment("u-0") == PartitionReplicas((3,))
    assert not is_asked(cluster)
    check_settled(cluster)


def test_several_partitions_are_each_done_in_their_time(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (3, 1), "t-1": (4, 2)})
    cluster.settle()
    cluster.write_isr("t-0", (1, 2, 3))
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((3, 1))
    assert znodes.read_reassignments(cluster.tree.data(znodes.REASSIGN_PARTITIONS)) == {partition("t-1"): (4, 2)}
    cluster.catch_up()
    cluster.settle()
    assert cluster.assignment("t-1") == PartitionReplicas((4, 2))
    assert not is_asked(cluster)


@pytest.mark.parametrize(
    "wanted", [{"x-0": (1,)}, {"t-9": (1,)}, {"t-0": ()}, {"t-0": (1, 1)}, {"t-0": (1, 7)}], ids=str
)
def test_what_cannot_be_reassigned_is_crossed_out_and_changes_nothing(
    cluster: MemoryCluster, wanted: dict[str, tuple[int, ...]]
) -> None:
    before = cluster.state("t-0"), cluster.assignment("t-0")
    cluster.reassign(wanted)
    cluster.settle()
    assert not is_asked(cluster)
    assert (cluster.state("t-0"), cluster.assignment("t-0")) == before


def test_what_makes_no_sense_is_left_for_its_author(cluster: MemoryCluster) -> None:
    cluster.tree.create(znodes.REASSIGN_PARTITIONS, b"{}")
    cluster.settle()
    assert is_asked(cluster)
    cluster.tree.overwrite(znodes.REASSIGN_PARTITIONS, znodes.write_reassignments({T0: (2, 1)}))
    cluster.settle()
    assert cluster.assignment("t-0") == PartitionReplicas((2, 1))


def test_a_topic_that_is_moving_is_deleted_when_it_has_arrived(cluster: MemoryCluster) -> None:
    cluster.reassign({"t-0": (3, 4)})
    cluster.settle()
    cluster.delete_topic("t")
    cluster.settle()
    assert cluster.tree.exists(znodes.topic("t"))
    cluster.catch_up()
    cluster.settle()
    assert not cluster.tree.exists(znodes.topic("t"))
    assert not is_asked(cluster)
    assert all(not broker.disk.folders for broker in cluster.brokers.values())


@pytest.mark.parametrize(
    ("before", "target", "after"),
    [
        (PartitionReplicas((1, 2)), (3, 2), PartitionReplicas((3, 2, 1), (3,), (1,))),
        (PartitionReplicas((1, 2)), (2, 1), PartitionReplicas((2, 1))),
        (PartitionReplicas((1, 2)), (1, 2, 3), PartitionReplicas((1, 2, 3), (3,))),
        (PartitionReplicas((1, 2)), (2,), PartitionReplicas((2, 1), (), (1,))),
        (PartitionReplicas((3, 2, 1), (3,), (1,)), (4, 2), PartitionReplicas((4, 2, 1), (4,), (1,))),
        (PartitionReplicas((3, 2, 1), (3,), (1,)), (2, 1), PartitionReplicas((2, 1))),
    ],
)
def test_on_the_way_are_the_wanted_replicas_and_then_those_that_go(
    before: PartitionReplicas, target: tuple[int, ...], after: PartitionReplicas
) -> None:
    assert towards(before, target) == after
