"""A request is carried out, ignored or fails, and leaves the queue only then."""

from __future__ import annotations

import logging

import pytest

from fencepost.cluster_impl.coordination.steps import Exists, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.state_changes.handling import (
    NotReplicaForPartition,
    NotStarted,
    carry_out,
    drop,
)
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor, StateChangeStage
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import (
    QueuedRequest,
    StateChange,
    StateChangeRequest,
    write_request,
)
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.znode_tree import TermOver, ZnodeTree

OF = TopicPartition("foo", 0)
START, CLOSE, PREFER = StateChange.START_REPLICA, StateChange.CLOSE_REPLICA, StateChange.PREFER_REPLICA


class ReplicaOperations:
    """Records its calls."""

    def __init__(self, refuses: bool = False) -> None:
        self.asked: list[str] = []
        self.refuses = refuses

    def start(self, now: float) -> Steps[None]:
        yield [Exists("/")]
        if self.refuses:
            raise NotReplicaForPartition("nothing names this broker")
        self.asked.append("start")

    def close(self, now: float) -> Steps[None]:
        yield [Exists("/")]
        self.asked.append("close")

    def prefer(self, now: float) -> None:
        if self.refuses:
            raise NotStarted("it does not lead")
        self.asked.append("prefer")


class Case:
    def __init__(self, change: StateChange, *, epoch: int, sender: int = 4, latest: int | None, led: bool) -> None:
        self.tree = ZnodeTree()
        self.replica = ReplicaOperations()
        self.monitor = StateChangeMonitor(5)
        request = StateChangeRequest(change, OF, epoch, sender)
        self.queued = QueuedRequest(5, "request-0000000007", request)
        self.tree.create(self.queued.path, write_request(request))
        if latest is not None:
            self.tree.create(znodes.isr(OF), znodes.write_isr(znodes.IsrState((4,), latest)))
        if led:
            self.tree.create(znodes.leader(OF), znodes.write_leader(znodes.Leader(4, latest or 0)))

    def run(self) -> list[str]:
        self.tree.run(carry_out(self.queued, self.replica, self.monitor, 0.0))
        assert not self.tree.exists(self.queued.path)
        return self.replica.asked


@pytest.mark.requirement("LD-36")
@pytest.mark.parametrize(("epoch", "is_started"), [(9, False), (10, True), (11, False)])
def test_start_replica_is_ignored_unless_its_epoch_is_the_latest(epoch: int, is_started: bool) -> None:
    case = Case(START, epoch=epoch, latest=10, led=True)
    assert case.run() == ["start"] * is_started
    assert case.monitor.counts[StateChangeStage.COMPLETED if is_started else StateChangeStage.IGNORED, START] == 1


@pytest.mark.requirement("LD-35")
@pytest.mark.parametrize("latest", [None, 10])
def test_without_a_leader_start_replica_is_carried_out_at_any_epoch(latest: int | None) -> None:
    assert Case(START, epoch=3, latest=latest, led=False).run() == ["start"]


@pytest.mark.requirement("LD-34", "DLD-24")
@pytest.mark.parametrize("led", [False, True])
def test_close_replica_is_carried_out_at_any_epoch(led: bool) -> None:
    assert Case(CLOSE, epoch=3, latest=10, led=led).run() == ["close"]


@pytest.mark.requirement("DLD-33")
def test_the_start_of_an_admin_command_has_no_epoch_to_be_compared() -> None:
    assert Case(START, epoch=-1, sender=-1, latest=0, led=True).run() == ["start"]


@pytest.mark.requirement("LD-42")
def test_a_broker_that_nothing_names_fails_to_start_and_is_asked_no_more() -> None:
    case = Case(START, epoch=10, latest=10, led=True)
    case.replica.refuses = True
    assert case.run() == []
    assert case.monitor.counts[StateChangeStage.FAILED, START] == 1


@pytest.mark.requirement("DLD-51")
@pytest.mark.parametrize("refuses", [False, True])
def test_a_leader_is_asked_to_give_way_and_another_replica_fails_to(refuses: bool) -> None:
    case = Case(PREFER, epoch=-1, sender=-1, latest=10, led=True)
    case.replica.refuses = refuses
    assert case.run() == ([] if refuses else ["prefer"])
    assert case.monitor.counts[StateChangeStage.FAILED if refuses else StateChangeStage.COMPLETED, PREFER] == 1


def test_an_isr_that_cannot_be_read_fails_the_request() -> None:
    case = Case(START, epoch=10, latest=10, led=True)
    case.tree.overwrite(znodes.isr(OF), b"?")
    assert case.run() == []
    assert case.monitor.counts[StateChangeStage.FAILED, START] == 1


def test_a_request_stays_in_its_queue_until_it_was_carried_out() -> None:
    case = Case(CLOSE, epoch=3, latest=10, led=False)
    case.tree.writes_left = 0
    with pytest.raises(TermOver):
        case.run()
    assert case.replica.asked == ["close"]
    assert case.tree.exists(case.queued.path)


def test_what_cannot_be_read_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    tree = ZnodeTree()
    queued = QueuedRequest(5, "request-0000000000", None, "it makes no sense")
    tree.create(queued.path, b"?")
    tree.run(drop(queued, StateChangeMonitor(5)))
    assert not tree.exists(queued.path)
    assert "it makes no sense" in caplog.text


@pytest.mark.requirement("LD-07")
def test_the_life_of_a_request_is_logged_in_the_words_of_the_document(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "state.change")
    StateChangeMonitor(0).requested(StateChangeRequest(START, OF, 10, 0), 5, 1)
    StateChangeMonitor(0).requested(StateChangeRequest.by_admin(START, OF), 5, 1)
    Case(START, epoch=10, sender=0, latest=10, led=True).run()
    Case(START, epoch=10, sender=0, latest=11, led=True).run()
    refusing = Case(START, epoch=10, sender=0, latest=10, led=True)
    refusing.replica.refuses = True
    refusing.run()
    StateChangeMonitor(4).reassignment(OF, "caught-up", 10)
    StateChangeMonitor(5).leader_changed(OF)
    StateChangeMonitor(4).is_full(5, 3)
    received = "follower, broker id 5, received start-replica for topic foo partition 0, from leader 0, at epoch 10"
    ended = "start-replica for topic foo partition 0, request from leader 0, at epoch 10"
    assert caplog.messages == [
        "leader, broker id 0, requested start-replica for topic foo partition 0, to broker id 5, at epoch 10",
        "admin, broker id 0, requested start-replica for topic foo partition 0, to broker id 5, at epoch -1",
        received,
        f"follower, broker id 5, completed {ended}",
        received,
        f"follower, broker id 5, ignored {ended}, the epoch is 11",
        received,
        f"follower, broker id 5, failed {ended}: nothing names this broker",
        "leader, broker id 4, reassignment of topic foo partition 0, step caught-up, at epoch 10",
        "broker id 5, saw a leader change of topic foo partition 0",
        "leader, broker id 4, state change queue of broker id 5 is full: FollowerStateChangeQueueFull",
    ]
