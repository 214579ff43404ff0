"""Preferred leaders, and controlled shutdown."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.controller.invariants import check_settled
from tests.cluster_impl.designs.zk_controller.controller.memory_cluster import (
    WITH_HEARTBEATS,
    MemoryCluster,
    partition,
)

T0 = partition("t-0")


def made(**config: Any) -> MemoryCluster:
    """t-0 and t-1, of which 1 is the preferred leader; u-0 is on it alone."""
    cluster = MemoryCluster(brokers=(1, 2, 3), **config)
    cluster.elect()
    cluster.add_topic("t", (1, 2, 3), (1, 3, 2))
    cluster.add_topic("u", (1,))
    cluster.settle()
    return cluster


def away_and_back(cluster: MemoryCluster, broker_id: int) -> None:
    cluster.bounce(broker_id)
    cluster.settle()
    cluster.catch_up()
    cluster.settle()


def ask_preferred(cluster: MemoryCluster, *names: str) -> None:
    data = znodes.write_partitions([partition(name) for name in names])
    cluster.tree.create(znodes.PREFERRED_REPLICA_ELECTION, data)
    cluster.settle()


@pytest.mark.requirement("INT-39", "DINT-21")
def test_a_preferred_leader_is_elected_when_that_is_asked_for() -> None:
    cluster = made()
    away_and_back(cluster, 1)
    assert cluster.state("t-0").leader == 2
    ask_preferred(cluster, "t-0")
    assert cluster.state("t-0").leader == 1
    assert cluster.state("t-1").leader == 3
    assert not cluster.tree.exists(znodes.PREFERRED_REPLICA_ELECTION)
    check_settled(cluster)


@pytest.mark.requirement("DINT-21")
def test_a_preferred_leader_that_cannot_lead_is_tried_and_crossed_out() -> None:
    cluster = made()
    cluster.bounce(1)
    cluster.settle()
    before = cluster.state("t-0")
    ask_preferred(cluster, "t-0", "x-0")
    assert cluster.state("t-0") == before
    assert not cluster.tree.exists(znodes.PREFERRED_REPLICA_ELECTION)
    ask_preferred(cluster)
    assert not cluster.tree.exists(znodes.PREFERRED_REPLICA_ELECTION)


def test_what_makes_no_sense_as_an_election_is_removed() -> None:
    cluster = made()
    cluster.tree.create(znodes.PREFERRED_REPLICA_ELECTION, b"?")
    cluster.settle()
    assert not cluster.tree.exists(znodes.PREFERRED_REPLICA_ELECTION)


def test_a_leader_that_is_preferred_already_gets_no_new_epoch() -> None:
    cluster = made()
    before = cluster.state("t-0")
    ask_preferred(cluster, "t-0")
    assert cluster.state("t-0") == before


@pytest.mark.requirement("DINT-22")
def test_leaderships_go_back_from_time_to_time_where_too_many_are_lost() -> None:
    cluster = made(auto_leader_rebalance=True, leader_imbalance_check_interval=60.0)
    away_and_back(cluster, 1)
    cluster.pass_time(59)
    assert cluster.state("t-0").leader == 2
    cluster.pass_time(1)
    assert (cluster.state("t-0").leader, cluster.state("t-1").leader) == (1, 1)
    assert cluster.controller is not None
    assert cluster.controller.next_tick() == cluster.now + 60
    check_settled(cluster)


@pytest.mark.requirement("DINT-22")
def test_leaderships_stay_where_few_are_lost() -> None:
    cluster = made(auto_leader_rebalance=True, leader_imbalance_check_interval=60.0, leader_imbalance_percentage=67)
    away_and_back(cluster, 1)
    cluster.pass_time(60)
    assert cluster.state("t-0").leader == 2


def shut_down(
    cluster: MemoryCluster, broker_id: int, epoch: int | None = None, *, version: int = 3
) -> m.ControlledShutdownResponse:
    epoch = cluster.brokers[broker_id].epoch if epoch is None else epoch
    [answer] = cluster.ask(m.ControlledShutdownRequest(broker_id=broker_id, broker_epoch=epoch), version=version)
    assert isinstance(answer, m.ControlledShutdownResponse)
    return answer


@pytest.mark.requirement("INT-40", "DINT-24", "INT-43")
def test_controlled_shutdown_moves_all_leaderships_before_it_answers() -> None:
    cluster = made()
    answer = shut_down(cluster, 1)
    assert (answer.error_code, answer.remaining_partitions) == (Error.NONE, [])
    assert (cluster.state("t-0").leader, cluster.state("t-0").isr) == (2, (2, 3))
    assert (cluster.state("t-1").leader, cluster.state("t-1").isr) == (3, (3, 2))
    assert cluster.state("u-0").leader == 1, "no other broker could"
    cluster.settle()
    check_settled(cluster)


def test_it_names_what_no_other_broker_can_lead() -> None:
    cluster = made()
    cluster.write_isr("t-0", (1,))
    cluster.settle()
    answer = shut_down(cluster, 1)
    assert [(each.topic_name, each.partition_index) for each in answer.remaining_partitions] == [("t", 0)]
    assert cluster.state("t-0").leader == 1


def test_a_broker_that_shuts_down_follows_no_more() -> None:
    cluster = made()
    shut_down(cluster, 3)
    cluster.settle()
    assert cluster.state("t-0").isr == (1, 2)
    assert T0 not in cluster.brokers[3].replicas
    assert T0 in cluster.brokers[3].disk.folders
    check_settled(cluster)


def test_a_broker_that_shuts_down_is_not_elected_while_another_can_be() -> None:
    cluster = made()
    shut_down(cluster, 2)
    cluster.kill(1)
    cluster.settle()
    assert (cluster.state("t-0").leader, cluster.state("t-1").leader) == (3, 3)
    check_settled(cluster)


def test_when_it_has_gone_and_is_back_it_is_a_broker_like_the_others() -> None:
    cluster = made()
    shut_down(cluster, 1)
    cluster.settle()
    away_and_back(cluster, 1)
    assert cluster.state("t-0").isr == (1, 2, 3)
    ask_preferred(cluster, "t-0")
    assert cluster.state("t-0").leader == 1
    check_settled(cluster)


@pytest.mark.requirement("DINT-24")
def test_controlled_shutdown_of_another_process_is_refused_and_changes_nothing() -> None:
    cluster = made()
    before = cluster.tree.zxid
    for epoch in (cluster.brokers[1].epoch - 1, cluster.brokers[1].epoch + 1):
        assert shut_down(cluster, 1, epoch).error_code == Error.STALE_BROKER_EPOCH
    assert shut_down(cluster, 9, 1).error_code == Error.STALE_BROKER_EPOCH
    assert shut_down(cluster, 9, -1, version=1).error_code == Error.BROKER_NOT_AVAILABLE
    assert cluster.tree.zxid == before


@pytest.mark.requirement("DINT-24")
def test_controlled_shutdown_without_an_epoch_passes_only_in_versions_that_have_none() -> None:
    """A process whose session expired has no epoch, and the id may be another process's by now."""
    cluster = made()
    before = cluster.tree.zxid
    for version in (2, 3):
        assert shut_down(cluster, 1, -1, version=version).error_code == Error.STALE_BROKER_EPOCH
    assert cluster.tree.zxid == before
    assert shut_down(cluster, 1, -1, version=1).error_code == Error.NONE
    assert cluster.state("t-0").leader == 2


@pytest.mark.requirement("K343-13", "K343-14", "K343-31")
@pytest.mark.parametrize("requests", ["the heartbeat", "the heartbeat, then the request", "the request"])
def test_a_broker_that_is_stopping_is_relieved_little_by_little(requests: str) -> None:
    """A real broker sends both in the same breath, by two connections."""
    cluster = MemoryCluster(brokers=(1, 2), version=WITH_HEARTBEATS)
    cluster.elect()
    for broker_id in (1, 2):
        cluster.heartbeat(broker_id, BrokerState.ACTIVE)
    cluster.add_topic("t", *[(1, 2)] * 250)
    cluster.settle()
    if "heartbeat" in requests:
        assert cluster.heartbeat(1, BrokerState.STOPPING).current_state == BrokerState.STOPPING
    if "request" in requests:
        assert len(shut_down(cluster, 1).remaining_partitions) == 250
    led = []
    while cluster.tick():
        led.append(sum(cluster.state(f"t-{at}").leader == 1 for at in range(250)))
    assert led == [150, 50, 0]
    cluster.settle()
    check_settled(cluster)


@pytest.mark.requirement("K343-12")
def test_a_stopping_broker_that_wants_to_stay_follows_again() -> None:
    cluster = MemoryCluster(brokers=(1, 2), version=WITH_HEARTBEATS)
    cluster.elect()
    for broker_id in (1, 2):
        cluster.heartbeat(broker_id, BrokerState.ACTIVE)
    cluster.add_topic("t", (1, 2))
    cluster.settle()
    cluster.heartbeat(2, BrokerState.STOPPING)
    cluster.settle()
    assert T0 not in cluster.brokers[2].replicas
    cluster.heartbeat(2, BrokerState.ACTIVE)
    cluster.settle()
    cluster.catch_up()
    cluster.settle()
    assert cluster.state("t-0").isr == (1, 2)
    check_settled(cluster)
