"""Errors of log dirs gather, and one message tells the controller (ReplicaStateEvent, Proposed Changes)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.log_dir_failures import (
    FailureAccumulator,
    LogDirFailures,
    NotificationSender,
)
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.zk_controller.broker.memory import MemoryZnodes


def partitions(*indexes: int) -> list[TopicPartition]:
    return [TopicPartition("t", index) for index in indexes]


@pytest.mark.requirement("RSE-20")
def test_failures_gather_from_the_first_one_on() -> None:
    accumulator = FailureAccumulator(gather=1.0)
    accumulator.failed("a", partitions(0), 10)
    accumulator.failed("b", partitions(1, 0), 10.9)
    assert accumulator.due == 11
    assert accumulator.take() == ("a; b", partitions(0, 1))
    assert accumulator.due is None


def test_a_failure_that_took_no_replica_is_not_reported() -> None:
    accumulator = FailureAccumulator()
    accumulator.failed("a", [], 10)
    assert accumulator.due is None


@given(st.lists(st.tuples(st.lists(st.integers(0, 5)), st.floats(0, 3), st.booleans()), max_size=30))
def test_each_lost_replica_is_reported_once_and_soon(failures: list[tuple[list[int], float, bool]]) -> None:
    accumulator = FailureAccumulator(gather=1.0)
    now, waiting = 0.0, set[TopicPartition]()
    for lost, delay, take in failures:
        now += delay
        accumulator.failed("why", partitions(*lost), now)
        waiting |= set(partitions(*lost))
        assert (accumulator.due is not None) == bool(waiting)
        assert accumulator.due is None or accumulator.due <= now + 1.0
        if take and accumulator.due is not None:
            _, known = accumulator.take()
            assert sorted(known, key=str) == sorted(waiting, key=str)
            waiting.clear()


@pytest.mark.requirement("RSE-20")
async def test_one_message_is_sent_at_a_time_and_what_comes_meanwhile_is_in_the_next() -> None:
    class FailureSender:
        """Meets another failure while it sends the first message."""

        def __init__(self) -> None:
            self.messages: list[Sequence[TopicPartition]] = []
            self.failures = LogDirFailures(self)

        async def send(self, reason: str, lost: Sequence[TopicPartition]) -> None:
            self.messages.append(lost)
            if len(self.messages) == 1:
                self.failures.failed("c", partitions(2))
            await asyncio.sleep(0)

    async def main() -> list[Sequence[TopicPartition]]:
        sender = FailureSender()
        sender.failures.failed("a", partitions(0))
        sender.failures.failed("b", partitions(1))
        assert sender.failures._reporting is not None
        await sender.failures._reporting
        return sender.messages

    assert await main() == [partitions(0, 1), partitions(2)]


@pytest.mark.requirement("RSE-01")
def test_below_the_raised_level_a_sequential_znode_names_the_broker() -> None:
    store = MemoryZnodes()
    asyncio.run(NotificationSender(4, store).send("why", partitions(0)))
    assert store.below(znodes.LOG_DIR_EVENT_PREFIX) == [b'{"version":1,"broker":4,"event":1}']
