"""The queue of a broker: bounded, shrunk to the requests that must not be lost, read in its order."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.state_changes import queue
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange, StateChangeRequest
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.znode_tree import TermOver, ZnodeTree

START, CLOSE = StateChange.START_REPLICA, StateChange.CLOSE_REPLICA


class Queue:
    """The queue of broker 5; broker 4 leads every partition."""

    def __init__(self, capacity: int) -> None:
        self.tree = ZnodeTree()
        self.tree.create(znodes.state(5), znodes.write_queue(znodes.QueueZnode()))
        self.capacity = capacity
        self.monitor = StateChangeMonitor(4)

    def put(self, change: StateChange, partition: int, epoch: int = 0) -> str:
        request = StateChangeRequest(change, TopicPartition("t", partition), epoch, 4)
        return self.tree.run(queue.put(request, 5, self.capacity, self.monitor))

    def waiting(self) -> list[tuple[StateChange, int, int]]:
        found = self.tree.run(queue.read_waiting(5)).requests
        return [
            (each.request.change, each.request.partition.partition, each.request.epoch)
            for each in found
            if each.request
        ]

    @property
    def shrunk(self) -> int:
        return self.tree.run(queue.read_waiting(5)).shrunk


@pytest.mark.requirement("LD-39", "LD-32")
def test_requests_wait_in_their_order_with_partition_and_epoch() -> None:
    of_5 = Queue(100)
    for number in range(12):
        assert of_5.put(START, number, epoch=number) == f"/brokers/state/5/request-{number:010}"
    assert of_5.waiting() == [(START, number, number) for number in range(12)]


@pytest.mark.requirement("LD-40")
def test_a_full_queue_keeps_the_latest_close_of_each_partition_and_no_start() -> None:
    of_5 = Queue(6)
    for change, partition, epoch in [
        (CLOSE, 0, 1),
        (START, 0, 2),
        (CLOSE, 1, 9),
        (CLOSE, 0, 3),
        (CLOSE, 1, 4),
        (START, 1, 9),
    ]:
        of_5.put(change, partition, epoch)
    of_5.put(START, 2, 0)
    assert of_5.waiting() == [(CLOSE, 1, 9), (CLOSE, 0, 3), (START, 2, 0)]


@pytest.mark.requirement("DLD-14")
def test_the_broker_can_see_that_requests_were_dropped_also_if_the_leader_dies_while_it_drops_them() -> None:
    for writes in range(5):
        of_5 = Queue(2)
        of_5.put(START, 0)
        of_5.put(START, 1)
        assert of_5.shrunk == 0
        of_5.tree.writes_left = writes
        try:
            of_5.put(START, 2)
        except TermOver:
            pass
        of_5.tree.writes_left = None
        is_whole = {(START, 0, 0), (START, 1, 0)} <= set(of_5.waiting())
        assert is_whole or of_5.shrunk == 1


@pytest.mark.requirement("LD-41")
def test_what_is_full_of_closes_takes_nothing_more() -> None:
    of_5 = Queue(2)
    of_5.put(CLOSE, 0)
    of_5.put(CLOSE, 1)
    with pytest.raises(queue.FollowerStateChangeQueueFull, match="broker 5 is full"):
        of_5.put(CLOSE, 2)
    assert of_5.waiting() == [(CLOSE, 0, 0), (CLOSE, 1, 0)]
    assert of_5.shrunk == 0
    assert of_5.monitor.queue_full == 1


def test_a_broker_without_queue_is_known_as_such() -> None:
    of_5 = Queue(2)
    of_5.tree.delete(znodes.state(5))
    with pytest.raises(queue.NoStateChangeQueue):
        of_5.put(CLOSE, 0)


@pytest.mark.requirement("LD-08")
def test_the_backlog_of_a_follower_is_what_was_seen_at_the_last_put() -> None:
    of_5 = Queue(100)
    for number in range(3):
        of_5.put(START, number)
    assert of_5.monitor.figures()["queue_backlog"] == {"5": 3}


def test_an_unreadable_request_is_read_with_its_problem_and_shrunk_away() -> None:
    of_5 = Queue(2)
    of_5.tree.create(znodes.request(5, "request-0000000000"), b"?")
    [found] = of_5.tree.run(queue.read_waiting(5)).requests
    assert found.request is None and "cannot be read" in found.problem
    assert of_5.tree.run(queue.shrink(5)) == 1
    assert of_5.tree.names(znodes.state(5)) == []


def test_known_requests_are_not_read_again() -> None:
    of_5 = Queue(100)
    known = of_5.put(START, 0).rpartition("/")[2]
    of_5.put(START, 1)
    found = of_5.tree.run(queue.read_waiting(5, [known])).requests
    assert [each.name for each in found] == ["request-0000000001"]
