"""The leader's own writes of the ISR beside those of its data plane: none puts a member back that has just left, and
a leader outside the new replicas acknowledges nothing that none of these has."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from fencepost.cluster_impl.coordination.steps import Operation, SetData
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.znodes import Leader
from fencepost.cluster_impl.replication.follower import FollowerFetch
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster, partition
from tests.cluster_impl.designs.leader_driven.partition.test_reassignment import steps

OF = partition("t-0")


def moving(caplog: pytest.LogCaptureFixture, brokers: Sequence[int], *target: int) -> MemoryCluster:
    """t-0 is on 4 and begins to move to the target."""
    caplog.set_level(logging.INFO, "state.change")
    cluster = MemoryCluster(*brokers)
    cluster.create_topic("t", [4])
    cluster.pass_time(2.0)
    cluster.reassign("t-0", *target)
    return cluster


@pytest.fixture
def pair(caplog: pytest.LogCaptureFixture) -> MemoryCluster:
    return moving(caplog, (4, 5), 5)


def isr(cluster: MemoryCluster) -> set[int]:
    node = cluster.node(znodes.isr(OF))
    assert node is not None
    return set(znodes.read_isr(OF, node.data, node.version).isr)


def high_watermark(cluster: MemoryCluster, broker_id: int) -> int:
    return cluster.brokers[broker_id].data_plane.replicas[OF].high_watermark


def lag(cluster: MemoryCluster, *broker_ids: int) -> None:
    """Let these brokers fetch without appending anything."""
    cut_off(cluster, *broker_ids)
    for each in broker_ids:
        fetch = FollowerFetch(each, cluster.brokers[each].epoch, 0, 0)
        cluster.brokers[4].data_plane.replicas[OF].credit(fetch, cluster.now)


def cut_off(cluster: MemoryCluster, *broker_ids: int) -> None:
    """Stop these brokers' fetches, append a record, and pass the time after which the leader drops them."""
    cluster.frozen = set(broker_ids)
    leader = cluster.brokers[4]
    leader.leading(OF).due = None
    leader.data_plane.append(OF)
    cluster.now += 2.0


def propose_before(cluster: MemoryCluster, path: str) -> None:
    """The data plane's proposal, which was made before the next pass, is carried out right before the pass's first
    write of that znode."""
    leader = cluster.brokers[4]
    before = set(map(id, leader.tasks))
    leader.consider_isr(OF)
    [proposal] = [task for task in leader.tasks if id(task) not in before]
    leader.tasks.remove(proposal)
    leader.leading(OF).due = cluster.now

    def first(operation: Operation, _: int) -> None:
        if isinstance(operation, SetData) and operation.path == path and proposal not in leader.tasks:
            cluster.before = lambda *_: None
            leader.tasks.append(proposal)
            while not proposal.is_over:
                leader.step(proposal)

    cluster.before = first


@pytest.mark.requirement("DLD-36", "LD-69", "LD-71")
def test_a_replica_that_has_just_left_the_isr_is_not_put_back_by_the_reassignment(
    pair: MemoryCluster, caplog: pytest.LogCaptureFixture
) -> None:
    pair.until(lambda: "old-out-of-isr" in steps(caplog))
    lag(pair, 5)
    propose_before(pair, znodes.isr(OF))
    pair.settle()
    assert isr(pair) == {4}
    assert high_watermark(pair, 4) == 1
    assert "isr-written" not in steps(caplog)
    pair.frozen.clear()
    pair.pass_time(5.0)
    assert pair.leader(OF) == Leader(5, 1)
    assert high_watermark(pair, 5) == 1
    pair.watcher.at_rest()


@pytest.mark.requirement("LD-69", "LD-71")
def test_a_replica_that_has_just_left_the_isr_is_not_put_back_with_those_that_are_still_named(
    cluster: MemoryCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.reassign("t-0", 4, 7)
    cluster.until(lambda: "caught-up" in steps(caplog))
    assert isr(cluster) == {4, 5, 6, 7}
    del cluster.wanted[OF]
    cluster.tree.delete(znodes.reassigned(OF))
    cut_off(cluster, 5, 6, 7)
    propose_before(cluster, znodes.isr(OF))
    cluster.settle()
    assert isr(cluster) == {4}
    cluster.frozen.clear()
    cluster.pass_time(8.0)
    cluster.watcher.at_rest()


@pytest.mark.requirement("DLD-36", "DLD-44")
@pytest.mark.parametrize("step", ["isr-written", "replicas-written"])
def test_what_only_the_leader_outside_the_new_replicas_has_is_not_acknowledged(
    pair: MemoryCluster, caplog: pytest.LogCaptureFixture, step: str
) -> None:
    pair.until(lambda: step in steps(caplog))
    cut_off(pair, 5)
    pair.brokers[4].consider_isr(OF)
    pair.settle()
    assert isr(pair) == {4, 5}
    assert high_watermark(pair, 4) == 0
    pair.brokers[4].leading(OF).due = pair.now
    pair.pass_time(3.0)
    assert "self-close-sent" not in steps(caplog)
    pair.frozen.clear()
    pair.pass_time(5.0)
    assert pair.leader(OF) == Leader(5, 1)
    assert high_watermark(pair, 5) == 1
    pair.watcher.at_rest()


@pytest.mark.requirement("DLD-36")
def test_the_switch_waits_for_a_new_replica_that_fell_out_behind_the_isr_that_was_written_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = moving(caplog, (4, 5, 6), 5, 6)
    cluster.until(lambda: "isr-written" in steps(caplog))
    cut_off(cluster, 6)
    for _ in range(2):
        cluster.fetch(cluster.brokers[5], OF)
    cluster.now += 0.5
    cluster.brokers[4].consider_isr(OF)
    cluster.settle()
    assert isr(cluster) == {4, 5}
    cluster.brokers[4].leading(OF).due = cluster.now
    cluster.pass_time(3.0)
    assert "replicas-written" not in steps(caplog)
    cluster.frozen.clear()
    cluster.pass_time(5.0)
    cluster.watcher.at_rest()


@pytest.mark.requirement("DLD-36", "DLD-44")
def test_a_proposal_from_before_the_switch_does_not_leave_the_new_replicas_without_what_is_acknowledged(
    pair: MemoryCluster, caplog: pytest.LogCaptureFixture
) -> None:
    pair.until(lambda: "old-out-of-isr" in steps(caplog))
    lag(pair, 5)
    propose_before(pair, znodes.replicas(OF))
    pair.until(lambda: "replicas-written" in steps(caplog))
    assert "self-close-sent" not in steps(caplog)
    assert isr(pair) == {4, 5}
    assert high_watermark(pair, 4) == 0


@pytest.mark.requirement("DLD-35")
def test_a_leader_outside_the_replicas_lets_them_leave_for_those_of_another_list(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = moving(caplog, (4, 5, 6), 5)
    cluster.until(lambda: "replicas-written" in steps(caplog))
    cluster.wanted[OF] = (6,)
    cluster.tree.overwrite(znodes.reassigned(OF), znodes.write_replicas((6,)))
    cluster.pass_time(10.0)
    assert cluster.leader(OF) == Leader(6, 1)
    cluster.watcher.at_rest()
