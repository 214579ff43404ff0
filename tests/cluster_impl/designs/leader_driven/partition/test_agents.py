"""Agents of several brokers over one tree: starting, election, leading, following, closing."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.coordination.steps import Create
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition.states import (
    CatchingUp,
    Failed,
    Following,
    Leading,
    Standing,
    Stopped,
)
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import (
    StateChange,
    StateChangeRequest,
    write_request,
)
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState, Leader
from fencepost.cluster_impl.replication.control_plane import IsrProposal, IsrRefused
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster, partition

OF = partition("t-0")


def isr(cluster: MemoryCluster) -> IsrState:
    return znodes.read_isr(OF, cluster.tree.data(znodes.isr(OF)), cluster.tree.version(znodes.isr(OF)))


def lag(cluster: MemoryCluster, *broker_ids: int) -> None:
    """Write a record while these brokers do nothing, so that they leave the ISR."""
    cluster.frozen = set(broker_ids)
    leader = cluster.leader(OF)
    assert leader is not None
    cluster.brokers[leader.broker_id].data_plane.append(OF)
    cluster.pass_time(3.0)
    assert not set(broker_ids) & set(isr(cluster).isr)


@pytest.mark.requirement("LD-29", "LD-44", "LD-53")
def test_the_preferred_replica_of_a_new_partition_leads_and_all_are_in_sync(cluster: MemoryCluster) -> None:
    assert cluster.leader(OF) == Leader(4, 0)
    assert set(isr(cluster).isr) == {4, 5, 6}


@pytest.mark.requirement("LD-29", "LD-31")
def test_other_replicas_leave_preferred_replica_time_to_the_preferred_one(cluster: MemoryCluster) -> None:
    cluster.kill(4)
    cluster.settle()
    assert cluster.leader(OF) is None
    assert all(isinstance(cluster.brokers[each].agents[OF].state, Standing) for each in (5, 6))
    cluster.pass_time(cluster.config.preferred_wait + 0.1)
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id in (5, 6) and leader.epoch >= 1


@pytest.mark.requirement("LD-45", "LD-47", "DLD-05")
def test_a_broker_that_comes_back_follows_in_the_isr_or_not(cluster: MemoryCluster) -> None:
    cluster.kill(4)
    cluster.pass_time(1.0)
    leader = cluster.leader(OF)
    assert leader is not None
    lag(cluster)
    cluster.start(4)
    cluster.settle()
    agent = cluster.brokers[4].agents[OF]
    assert isinstance(agent.state, Following) and agent.epoch == leader.epoch
    cluster.pass_time(3.0)
    cluster.watcher.at_rest()


@pytest.mark.requirement("LD-28", "DLD-22")
def test_no_replica_outside_the_isr_leads_however_long_it_takes(cluster: MemoryCluster) -> None:
    lag(cluster, 6)
    cluster.kill(4)
    cluster.kill(5)
    cluster.frozen.clear()
    cluster.pass_time(10.0)
    assert cluster.leader(OF) is None
    cluster.start(5)
    cluster.pass_time(3.0)
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id == 5


@pytest.mark.requirement("DLD-22", "LD-22")
def test_a_replica_without_a_leader_looks_again_by_itself(cluster: MemoryCluster) -> None:
    lag(cluster, 5, 6)
    cluster.kill(4)
    cluster.frozen.clear()
    cluster.settle()
    cluster.tree.overwrite(znodes.isr(OF), znodes.write_isr(IsrState((6,), 0)))  # no broker is notified of that
    cluster.watcher.isrs.clear()
    cluster.pass_time(cluster.config.election_wait + 1.0)
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id == 6


@pytest.mark.requirement("LD-52", "LD-55", "DLD-06")
def test_a_new_leader_serves_its_followers_only_until_the_live_ones_have_caught_up(cluster: MemoryCluster) -> None:
    cluster.brokers[5].agents[OF]
    cluster.frozen = {6}
    cluster.kill(4)
    cluster.pass_time(cluster.config.preferred_wait + 0.2)
    leader = cluster.brokers[5]
    assert isinstance(leader.agents[OF].state, CatchingUp)
    replica = leader.data_plane.replicas[OF]
    assert replica.check_leader(1) is Error.NONE
    assert replica.check_client(-1) is Error.NOT_LEADER_OR_FOLLOWER
    cluster.frozen.clear()
    cluster.pass_time(0.3)
    assert replica.check_client(-1) is Error.NONE
    assert isr(cluster) == IsrState((5, 6), 1, isr(cluster).version)


@pytest.mark.requirement("LD-52", "LD-53")
def test_it_waits_no_longer_than_keep_in_sync_time_and_goes_on_without_the_silent(cluster: MemoryCluster) -> None:
    cluster.frozen = {6}
    cluster.kill(4)
    cluster.pass_time(cluster.config.preferred_wait + cluster.config.keep_in_sync + 0.5)
    assert isinstance(cluster.brokers[5].agents[OF].state, Leading)
    assert isr(cluster).isr == (5,)


@pytest.mark.requirement("DLD-34")
def test_the_isr_of_a_new_leader_holds_no_broker_that_is_not_registered(cluster: MemoryCluster) -> None:
    cluster.kill(6)
    cluster.kill(4)
    cluster.pass_time(1.0)
    assert isr(cluster).isr == (5,)


@pytest.mark.requirement("DLD-16")
def test_a_broker_whose_session_ended_leads_nothing_until_it_has_won_again(cluster: MemoryCluster) -> None:
    cluster.expire(4)
    broker = cluster.brokers[4]
    broker.lose_session()
    assert isinstance(broker.agents[OF].state, Stopped)
    assert broker.data_plane.replicas[OF].role is ReplicaRole.OFFLINE
    cluster.pass_time(4.0)
    cluster.watcher.at_rest()
    leader = cluster.leader(OF)
    assert leader is not None and leader.epoch >= 1


@pytest.mark.requirement("DLD-20")
def test_a_leader_whose_log_dir_fails_lets_the_others_elect_and_stands_no_more(cluster: MemoryCluster) -> None:
    broker = cluster.brokers[4]
    broker.data_plane.failed = True
    cluster.tree.run(broker.agents[OF].log_dir_failed(), broker.session)
    assert cluster.leader(OF) is None
    cluster.pass_time(5.0)
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id in (5, 6)
    assert isinstance(broker.agents[OF].state, Failed)


@pytest.mark.requirement("DSTO-01")
def test_a_replica_outside_the_isr_is_not_made_anew_beside_a_log_dir_that_may_hold_it(cluster: MemoryCluster) -> None:
    cluster.kill(6)
    lag(cluster, 6)
    disk = cluster.disks[6]
    del disk.logs[OF]
    disk.has_lost_dir = True
    cluster.frozen = set()
    broker = cluster.start(6)
    cluster.pass_time(5.0)
    assert isinstance(broker.agents[OF].state, Failed)
    assert OF not in broker.data_plane.replicas


@pytest.mark.requirement("DLD-13")
def test_a_replica_that_lost_its_disk_does_not_lead_before_it_has_all_again(cluster: MemoryCluster) -> None:
    cluster.kill(5)
    cluster.kill(6)
    cluster.kill(4)
    cluster.disks[5].logs.clear()
    cluster.tree.overwrite(znodes.isr(OF), znodes.write_isr(IsrState((4, 5), 0)))
    cluster.start(5)
    cluster.pass_time(5.0)
    assert cluster.leader(OF) is None
    cluster.start(4)
    cluster.pass_time(3.0)
    assert cluster.leader(OF) == Leader(4, 1)
    cluster.kill(4)
    cluster.pass_time(3.0)
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id == 5


@pytest.mark.requirement("LD-73", "DLD-21")
def test_leadership_goes_back_to_the_preferred_replica_once_it_is_in_sync() -> None:
    cluster = MemoryCluster(4, 5, 6, auto_leader_rebalance=True)
    cluster.create_topic("t", [4, 5, 6])
    cluster.pass_time(2.0)
    cluster.kill(4)
    cluster.pass_time(3.0)
    cluster.start(4)
    cluster.pass_time(4.0)
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id == 4
    cluster.watcher.at_rest()


def sent_to(cluster: MemoryCluster, broker_id: int) -> None:
    """Let an administrator ask the broker to give way."""
    prefix = znodes.request_prefix(broker_id)
    request = write_request(StateChangeRequest.by_admin(StateChange.PREFER_REPLICA, OF))
    cluster.execute(Create(prefix, request, sequence=True), cluster.new_session())


@pytest.mark.requirement("DLD-51")
def test_a_leader_gives_way_on_request_once_the_preferred_replica_can_lead(cluster: MemoryCluster) -> None:
    cluster.create_topic("t", [4, 5, 6])
    cluster.pass_time(2.0)
    cluster.kill(4)
    cluster.pass_time(3.0)
    sent_to(cluster, 5)
    cluster.pass_time(1.0)
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id == 5, "the preferred replica is away"
    cluster.pass_time(30.0)
    cluster.start(4)
    cluster.pass_time(4.0)
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id == 5, "the request of long ago has ended"
    sent_to(cluster, 5)
    cluster.pass_time(4.0)
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id == 4
    cluster.watcher.at_rest()


@pytest.mark.requirement("DLD-43")
def test_a_silent_replica_is_asked_once_to_start(cluster: MemoryCluster) -> None:
    cluster.frozen = {6}
    cluster.pass_time(8.0)
    assert len(cluster.tree.names(znodes.state(6))) == 1
    cluster.frozen.clear()
    cluster.pass_time(2.0)
    cluster.watcher.at_rest()


@pytest.mark.requirement("DLD-04")
def test_an_isr_that_another_leader_asks_for_is_refused(cluster: MemoryCluster) -> None:
    broker = cluster.brokers[4]
    topic_id = broker.data_plane.replicas[OF].topic_id
    for epoch, version in [(1, 1), (0, 0), (0, 7)]:
        proposal = IsrProposal(topic="t", topic_id=topic_id, partition=0, leader_epoch=epoch, isr=(4,), version=version)
        outcome = cluster.tree.run(broker.agents[OF].alter_isr(proposal, cluster.now), broker.session)
        assert isinstance(outcome, IsrRefused)
    assert set(isr(cluster).isr) == {4, 5, 6}


@pytest.mark.requirement("LD-70", "LD-71")
def test_the_isr_shrinks_and_grows_again_within_one_leader_term(cluster: MemoryCluster) -> None:
    lag(cluster, 6)
    assert set(isr(cluster).isr) == {4, 5}
    lag(cluster, 5, 6)
    assert isr(cluster).isr == (4,)
    cluster.frozen.clear()
    cluster.pass_time(3.0)
    assert cluster.leader(OF) == Leader(4, 0)
    cluster.watcher.at_rest()


@pytest.mark.requirement("LD-46", "LD-38", "LD-64", "DLD-24")
def test_a_deleted_topic_leaves_nothing(cluster: MemoryCluster) -> None:
    cluster.delete_topic("t")
    cluster.pass_time(6.0)
    assert not cluster.tree.names(znodes.TOPICS)
    cluster.watcher.at_rest()
    agents = [agent for broker in cluster.brokers.values() for agent in broker.agents.values()]
    assert agents and all(isinstance(agent.state, Stopped) for agent in agents)


def test_a_topic_that_is_created_anew_begins_at_epoch_0_with_new_replicas(cluster: MemoryCluster) -> None:
    before = cluster.brokers[4].data_plane.replicas[OF].topic_id
    cluster.kill(4)
    cluster.pass_time(3.0)
    cluster.start(4)
    cluster.pass_time(2.0)
    cluster.delete_topic("t")
    cluster.pass_time(4.0)
    cluster.create_topic("t", [4, 5, 6])
    cluster.pass_time(3.0)
    cluster.watcher.at_rest()
    assert cluster.leader(OF) == Leader(4, 0)
    assert cluster.brokers[4].data_plane.replicas[OF].topic_id != before


@pytest.mark.requirement("DLD-38")
def test_a_replica_of_what_is_to_be_deleted_is_not_started(cluster: MemoryCluster) -> None:
    cluster.kill(6)
    cluster.pass_time(0.5)
    cluster.frozen = {4, 5}
    cluster.tree.create(znodes.reassigned(OF), znodes.write_replicas(()))
    cluster.start(6)
    cluster.pass_time(1.0)
    assert OF not in cluster.brokers[6].data_plane.replicas


def test_znodes_that_cannot_be_read_stop_no_replica_for_good(cluster: MemoryCluster) -> None:
    data = cluster.tree.data(znodes.replicas(OF))
    cluster.tree.overwrite(znodes.replicas(OF), b"?")
    cluster.kill(4)
    cluster.pass_time(3.0)
    assert cluster.leader(OF) is None
    cluster.tree.overwrite(znodes.replicas(OF), data)
    cluster.pass_time(3.0)
    assert cluster.leader(OF) is not None
