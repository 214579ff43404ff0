"""Deadlines: none is earlier or later than it is said to be."""

from __future__ import annotations

import asyncio

from fencepost.cluster_impl.api.groups.group import Group
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.controller.snapshot_schedule import SnapshotSchedule
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.shared import forwarding
from fencepost.cluster_impl.replication.follower import FollowerProgress
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message, RequestMessage
from tests.cluster_impl.api.test_group import REBALANCE, SESSION, joined, member, stable
from tests.cluster_impl.designs.quorum.broker.test_lifecycle import beat, leased


def test_a_rebalance_waits_for_the_rebalance_timeout_of_its_members() -> None:
    group = stable("a", "b")
    group.join(member("c"), "c", 2.0)
    for now in (2.0 + SESSION / 2, 2.0 + SESSION, 2.0 + 1.5 * SESSION):
        for member_id in ("a", "b"):
            group.heartbeat(member_id, None, 1, now)
        assert not joined(group.tick(now))
    assert set(group.members) == {"a", "b", "c"}


def test_a_member_that_waits_for_the_others_does_not_expire() -> None:
    group = Group("g", initial_delay=2 * SESSION)
    group.join(member("a"), "a", 0.0)
    group.tick(1.5 * SESSION)
    assert set(group.members) == {"a"} and 2 * SESSION < REBALANCE


def test_a_follower_that_keeps_up_with_steady_writes_is_in_sync() -> None:
    progress = FollowerProgress(since=0.0, last_caught_up=0.0)
    for second in range(20):
        progress.fetched(10 * second, 1, 10 * (second + 1), float(second))
    assert not progress.lags(210, 20.0, lag_limit=10.0)


def test_a_lease_runs_from_the_heartbeat_that_asked_for_it() -> None:
    broker = LeaseLifecycle()
    beat(broker, leased(FenceState.FENCED, 7), 0.0)
    beat(broker, leased(FenceState.ACTIVE, 7, lease=10.0), sent=1.0, arrived=9.0)
    assert broker.serving(10.5) and not broker.serving(11.5)


def test_a_controller_that_went_silent_makes_way_for_another_snapshot() -> None:
    schedule = SnapshotSchedule(100, 5.0, 0.0)
    assert schedule.heard(1, 0, 200, 6.0)
    answers = [schedule.heard(2, 0, 200, 6.0 + second) for second in range(10)]
    assert any(answers)


def test_a_request_is_answered_within_its_own_timeout() -> None:
    async def no_controller(message: RequestMessage[Message], version: int, timeout: float) -> tuple[int, Message]:
        raise ConnectionError("no controller answers")

    async def answered() -> bool:
        asking = asyncio.create_task(forwarding.forward(m.CreateTopicsRequest(timeout_ms=100), 5, no_controller))
        done, _ = await asyncio.wait({asking}, timeout=2.0)
        asking.cancel()
        for one in done:
            assert isinstance(one.exception(), ConnectionError)
        return bool(done)

    assert asyncio.run(answered())
