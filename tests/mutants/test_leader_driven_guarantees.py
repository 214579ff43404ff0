"""Guarantees of the leader-driven design, each in its shortest form; mutants beside this file break them."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition import election, isr_change
from fencepost.cluster_impl.designs.leader_driven.partition.states import Stopped
from fencepost.cluster_impl.designs.leader_driven.state_changes.handling import carry_out
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.queue import (
    FollowerStateChangeQueueFull,
    put,
    read_waiting,
)
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange, StateChangeRequest
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState, Leader, QueueZnode
from fencepost.cluster_impl.replication.control_plane import IsrAccepted, IsrProposal, TopicPartition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster
from tests.cluster_impl.designs.znode_tree import ZnodeTree

PARTITION = TopicPartition("t", 0)
START, CLOSE = StateChange.START_REPLICA, StateChange.CLOSE_REPLICA
MONITOR = StateChangeMonitor(4)


def tree(isr: tuple[int, ...] = (4, 5), epoch: int = 3) -> ZnodeTree:
    """A partition without leader, and the empty queue of broker 5."""
    found = ZnodeTree()
    found.create(znodes.replicas(PARTITION), znodes.write_replicas([4, 5, 6]))
    found.create(znodes.isr(PARTITION), znodes.write_isr(IsrState(isr, epoch)))
    found.create(znodes.state(5), znodes.write_queue(QueueZnode()))
    return found


def isr_state(of: ZnodeTree) -> IsrState:
    return znodes.read_isr(PARTITION, of.data(znodes.isr(PARTITION)), of.version(znodes.isr(PARTITION)))


def state_change(change: StateChange, epoch: int, partition: TopicPartition = PARTITION) -> StateChangeRequest:
    return StateChangeRequest(change, partition, epoch, 4)


class Recorder:
    """A replica that records its commands."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def start(self, now: float) -> Steps[None]:
        self.commands.append("start")
        yield from ()

    def close(self, now: float) -> Steps[None]:
        self.commands.append("close")
        yield from ()

    def prefer(self, now: float) -> None:
        self.commands.append("prefer")


@pytest.mark.requirement("LD-36", "DLD-24")
@pytest.mark.parametrize(("change", "commands"), [(START, []), (CLOSE, ["close"])])
def test_a_request_of_an_earlier_epoch_starts_nothing_and_closes_all_the_same(
    change: StateChange, commands: list[str]
) -> None:
    zookeeper, replica = tree(epoch=3), Recorder()
    zookeeper.create(znodes.leader(PARTITION), znodes.write_leader(Leader(4, 3)))
    zookeeper.run(put(state_change(change, 2), 5, 10, MONITOR))
    [queued] = zookeeper.run(read_waiting(5)).requests
    zookeeper.run(carry_out(queued, replica, MONITOR, 0.0))
    assert replica.commands == commands
    assert zookeeper.names(znodes.state(5)) == []


@pytest.mark.requirement("LD-40", "DLD-14")
def test_a_full_queue_keeps_of_each_partition_the_latest_that_has_to_be_closed() -> None:
    zookeeper, other = tree(), TopicPartition("u", 1)
    requests = (state_change(CLOSE, 1), state_change(START, 2), state_change(CLOSE, 2), state_change(CLOSE, 2, other))
    for request in requests:
        zookeeper.run(put(request, 5, 4, MONITOR))
    zookeeper.run(put(state_change(START, 3), 5, 4, MONITOR))
    kept = [queued.request for queued in zookeeper.run(read_waiting(5)).requests]
    assert kept == [state_change(CLOSE, 2), state_change(CLOSE, 2, other), state_change(START, 3)]
    with pytest.raises(FollowerStateChangeQueueFull):
        zookeeper.run(put(state_change(START, 4), 5, 2, MONITOR))


@pytest.mark.requirement("DLD-04")
def test_each_winner_has_an_epoch_that_no_leader_had_before() -> None:
    zookeeper = tree(epoch=3)
    for broker_id, epoch in ((4, 4), (5, 5), (4, 6)):
        won = zookeeper.run(election.stand(broker_id, PARTITION), session=broker_id)
        assert isinstance(won, election.ElectionWin) and won.epoch == epoch == isr_state(zookeeper).epoch
        zookeeper.delete(znodes.leader(PARTITION))


def test_a_replica_outside_the_isr_does_not_win() -> None:
    zookeeper = tree(isr=(4, 5))
    assert zookeeper.run(election.stand(6, PARTITION), session=6) is election.ElectionLoss.NOT_ELIGIBLE
    assert not zookeeper.exists(znodes.leader(PARTITION)) and isr_state(zookeeper).epoch == 3


def test_an_isr_is_not_written_over_another_version() -> None:
    zookeeper = tree(isr=(4, 5))
    known = isr_state(zookeeper)
    zookeeper.overwrite(znodes.isr(PARTITION), znodes.write_isr(IsrState((5,), 4)))
    found = zookeeper.run(isr_change.write_once(PARTITION, known))
    assert found is not None and (found.isr, found.epoch) == ((5,), 4)
    assert isr_state(zookeeper).isr == (5,)


@pytest.fixture
def cluster() -> MemoryCluster:
    """Broker 4 leads, and all are in sync."""
    cluster = MemoryCluster(4, 5, 6)
    cluster.create_topic("t", [4, 5, 6])
    cluster.pass_time(3.0)
    assert cluster.leader(PARTITION) == Leader(4, 0)
    return cluster


def test_a_leader_whose_session_is_over_leads_nothing(cluster: MemoryCluster) -> None:
    former = cluster.brokers[4]
    former.lose_session()
    progress = former.data_plane.progress(PARTITION)
    assert progress is not None and progress.role is ReplicaRole.OFFLINE
    assert isinstance(former.agents[PARTITION].state, Stopped)


def test_a_leader_changes_its_isr_as_often_as_it_has_to(cluster: MemoryCluster) -> None:
    leader = cluster.brokers[4]
    for isr in ((4, 5), (4, 5, 6), (4,)):
        progress = leader.data_plane.progress(PARTITION)
        assert progress is not None
        topic_id = znodes.topic_id("t", cluster.node(znodes.topic("t")).czxid)  # type: ignore[union-attr]
        proposal = IsrProposal(
            topic="t", topic_id=topic_id, partition=0, leader_epoch=0, isr=isr, version=progress.version
        )
        steps = leader.agents[PARTITION].alter_isr(proposal, cluster.now)
        outcome = cluster.tree.run(steps, session=leader.session)
        assert isinstance(outcome, IsrAccepted) and outcome.isr == isr
