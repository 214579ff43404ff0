"""Moving a partition: the steps in their order, and the condition of each."""

from __future__ import annotations

import logging
import re

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeStage
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange
from fencepost.cluster_impl.designs.leader_driven.znodes import Leader
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster, partition

OF = partition("t-0")
MOVE = [
    "noticed", "start-replica-sent", "caught-up", "close-replica-sent", "old-out-of-isr", "isr-written",
    "replicas-written",
]  # fmt: skip


def steps(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [re.search(r"reassignment of .*, step (\S+), at epoch", message) for message in caplog.messages]
    return [each[1] for each in found if each is not None]


@pytest.mark.requirement("LD-14", "LD-37", "LD-74", "LD-75", "LD-77", "LD-78", "DLD-11", "DLD-26")
@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ((4, 7), [*MOVE, "reassigned-deleted"]),
        ((7, 4), [*MOVE, "reassigned-deleted", "leader-deleted"]),
        ((5, 6, 7), [*MOVE, "self-close-sent", "reassigned-deleted", "leader-deleted"]),
        ((7,), [*MOVE, "self-close-sent", "reassigned-deleted", "leader-deleted"]),
        ((6, 5, 4), [*MOVE, "reassigned-deleted", "leader-deleted"]),
        ((4, 5, 6), ["noticed", "reassigned-deleted"]),
    ],
)
def test_a_partition_moves_step_by_step(
    cluster: MemoryCluster, target: tuple[int, ...], wanted: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.reassign("t-0", *target)
    cluster.pass_time(8.0)
    assert steps(caplog) == wanted
    cluster.watcher.at_rest()
    leader = cluster.leader(OF)
    assert leader is not None and leader.broker_id == target[0]


@pytest.mark.requirement("LD-74")
def test_only_new_replicas_are_asked_to_start_and_only_old_ones_to_close_once_each(cluster: MemoryCluster) -> None:
    cluster.reassign("t-0", 4, 5, 7)
    cluster.pass_time(6.0)
    requested = cluster.brokers[4].monitor.counts
    assert requested[StateChangeStage.REQUESTED, StateChange.START_REPLICA] == 1
    assert requested[StateChangeStage.REQUESTED, StateChange.CLOSE_REPLICA] == 1
    assert cluster.brokers[7].monitor.counts[StateChangeStage.COMPLETED, StateChange.START_REPLICA] == 1
    assert cluster.brokers[6].monitor.counts[StateChangeStage.COMPLETED, StateChange.CLOSE_REPLICA] == 1


@pytest.mark.requirement("DLD-36")
def test_the_switch_waits_for_new_replicas_that_fall_behind_again(
    cluster: MemoryCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.frozen = {6}
    cluster.reassign("t-0", 4, 7)
    cluster.until(lambda: "close-replica-sent" in steps(caplog))
    cluster.frozen = {6, 7}
    cluster.brokers[4].data_plane.append(OF)
    cluster.pass_time(6.0)
    assert "isr-written" not in steps(caplog)
    cluster.frozen.clear()
    cluster.pass_time(5.0)
    assert steps(caplog) == [*MOVE, "reassigned-deleted"]


@pytest.mark.requirement("DLD-44")
def test_a_leader_outside_the_new_replicas_does_not_close_while_it_alone_has_all(
    cluster: MemoryCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.reassign("t-0", 7)
    cluster.until(lambda: "replicas-written" in steps(caplog))
    cluster.frozen = {7}
    leader = cluster.brokers[4]
    leader.leading(OF).due = None  # the next pass comes late
    leader.data_plane.append(OF)
    cluster.pass_time(3.0)
    leader.leading(OF).due = cluster.now
    cluster.pass_time(2.0)
    assert "self-close-sent" not in steps(caplog)
    assert cluster.leader(OF) == Leader(4, 0)
    assert not leader.data_plane.replicas[OF].check_client(-1)
    cluster.frozen.clear()
    cluster.pass_time(5.0)
    assert cluster.leader(OF) == Leader(7, 1)
    cluster.watcher.at_rest()


@pytest.mark.requirement("DLD-37")
def test_an_old_replica_that_restarts_before_the_switch_is_closed_again(
    cluster: MemoryCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.reassign("t-0", 4, 5)
    cluster.until(lambda: cluster.brokers[6].monitor.counts[StateChangeStage.COMPLETED, StateChange.CLOSE_REPLICA] == 1)
    cluster.kill(6)
    cluster.start(6)
    cluster.pass_time(8.0)
    assert steps(caplog) == [*MOVE, "reassigned-deleted"]
    cluster.watcher.at_rest()


@pytest.mark.requirement("DLD-45")
def test_a_replica_that_was_started_by_the_last_moment_of_an_assignment_closes_itself(cluster: MemoryCluster) -> None:
    cluster.kill(6)
    cluster.start(6)
    cluster.pass_time(0.2)
    cluster.tree.overwrite(znodes.replicas(OF), znodes.write_replicas((4, 5)))
    cluster.pass_time(cluster.config.election_wait + 0.5)
    assert OF not in cluster.disks[6].logs


@pytest.mark.requirement("DLD-35")
def test_a_reassignment_that_is_taken_back_closes_what_was_started_and_starts_what_was_closed(
    cluster: MemoryCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.reassign("t-0", 4, 7)
    cluster.until(lambda: "close-replica-sent" in steps(caplog))
    cluster.tree.delete(znodes.reassigned(OF))
    del cluster.wanted[OF]
    cluster.pass_time(8.0)
    cluster.watcher.at_rest()


@pytest.mark.requirement("DLD-35")
def test_another_list_begins_anew(cluster: MemoryCluster, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.frozen = {7}
    cluster.reassign("t-0", 4, 7)
    cluster.until(lambda: "start-replica-sent" in steps(caplog))
    cluster.wanted[OF] = (4, 5)
    cluster.tree.overwrite(znodes.reassigned(OF), znodes.write_replicas((4, 5)))
    cluster.pass_time(6.0)
    assert steps(caplog)[2:] == [*MOVE, "reassigned-deleted"]
    cluster.frozen.clear()
    cluster.pass_time(3.0)
    cluster.watcher.at_rest()


@pytest.mark.requirement("DLD-46")
def test_a_deletion_in_the_middle_of_a_switch_closes_the_leader_outside_it(
    cluster: MemoryCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.reassign("t-0", 5, 6)
    cluster.until(lambda: "replicas-written" in steps(caplog))
    assert "self-close-sent" not in steps(caplog)
    cluster.delete_topic("t")
    cluster.pass_time(8.0)
    assert not cluster.tree.names(znodes.TOPICS)
    cluster.watcher.at_rest()


@pytest.mark.requirement("LD-54", "DLD-26")
def test_the_next_leader_begins_with_the_first_step(cluster: MemoryCluster, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.reassign("t-0", 5, 7)
    cluster.until(lambda: "caught-up" in steps(caplog))
    cluster.kill(4)
    cluster.pass_time(10.0)
    cluster.start(4)
    cluster.pass_time(5.0)
    assert steps(caplog)[steps(caplog).index("caught-up") + 1 :][:2] != ["replicas-written"]
    assert steps(caplog).count("noticed") == 2
    cluster.watcher.at_rest()


def test_a_reassignment_right_behind_another_one_is_noticed_though_the_listener_saw_no_change(
    cluster: MemoryCluster, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "state.change")
    cluster.reassign("t-0", 4, 5, 6)
    cluster.until(lambda: "reassigned-deleted" in steps(caplog))
    monkeypatch.setattr(ReplicaAgent, "reassigned_changed", lambda *_: iter(()))
    cluster.reassign("t-0", 4, 7)
    cluster.pass_time(8.0)
    assert steps(caplog).count("noticed") == 2
    cluster.watcher.at_rest()
