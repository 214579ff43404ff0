"""A broker's heartbeats on real sockets: what it does with answers, silence, and controllers that are not active."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from cluster_impl.config_values import Listener, Voter
from cluster_impl.designs.quorum.broker.finder import ControllerFinder
from cluster_impl.designs.quorum.broker.heartbeats import Heartbeats, Pace
from cluster_impl.designs.quorum.broker.lifecycle import Lifecycle
from cluster_impl.designs.quorum.broker.link import ControllerLink
from cluster_impl.designs.quorum.states import BrokerState
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.server import Request
from tests.cluster_impl.designs.quorum.broker.scripted import Scripted, controllers

LEASE_MS = 60_000


def leased(request: Request, state: BrokerState, epoch: int = 7, lease_ms: int = LEASE_MS) -> Message:
    body = request.body
    assert isinstance(body, m.BrokerHeartbeatRequest)
    end = body.lease_start_time_ms + lease_ms
    return m.BrokerHeartbeatResponse(
        active_controller_id=1, next_state=state, broker_epoch=epoch, lease_end_time_ms=end
    )


def active_controller(request: Request) -> Message:
    """Grants epoch 7 to INITIAL, says ACTIVE to who has reached offset 7, and lets go who wants to stop."""
    body = request.body
    assert isinstance(body, m.BrokerHeartbeatRequest)
    if body.target_state == BrokerState.SHUTDOWN:
        return leased(request, BrokerState.SHUTDOWN, lease_ms=0)
    caught_up = body.target_state == BrokerState.ACTIVE and body.cur_metadata_offset >= 7
    return leased(request, BrokerState.ACTIVE if caught_up else BrokerState.FENCED)


def not_active(active: int) -> Callable[[Request], Message]:
    return lambda _: m.BrokerHeartbeatResponse(error_code=Error.NOT_CONTROLLER, active_controller_id=active)


@dataclass
class Broker:
    voters: list[Voter]
    interval: float = 60.0
    timeout: float = 5.0
    reached: int = 0
    epochs: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lifecycle = Lifecycle()
        finder = ControllerFinder(self.voters)
        self.link = ControllerLink(finder, Hosts(), "broker-4", 5.0)
        self.heartbeats = Heartbeats(
            4,
            [Listener("CLIENT", "node-4", 40000)],
            self.lifecycle,
            self.link,
            finder,
            Pace(self.interval, self.timeout),
            lambda: self.reached,
            lambda: self.epochs.append(self.lifecycle.epoch),
        )

    async def until(self, condition: Callable[[Lifecycle], bool]) -> None:
        async with asyncio.timeout(10):
            while not condition(self.lifecycle):  # noqa: ASYNC110  # a pure machine has no event to wait for
                await asyncio.sleep(0.005)


def active(lifecycle: Lifecycle) -> bool:
    return lifecycle.serving(time.monotonic())


def granted(lifecycle: Lifecycle) -> bool:
    return lifecycle.epoch == 7


async def live(broker: Broker, story: Callable[[Broker], Awaitable[None]]) -> None:
    running = asyncio.create_task(broker.heartbeats.run())
    try:
        await story(broker)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        broker.heartbeats.close()
        broker.link.close()


def test_a_broker_becomes_active_as_soon_as_its_metadata_has_caught_up_not_an_interval_later() -> None:
    async def run() -> None:
        controller = Scripted(active_controller)
        async with controllers(controller) as voters:

            async def story(broker: Broker) -> None:
                await broker.until(granted)
                assert broker.epochs == [7]
                assert not active(broker.lifecycle)
                broker.reached = 7
                broker.heartbeats.metadata_advanced()
                await broker.until(active)

            await live(Broker(voters), story)
        first = controller.asked[0]
        assert isinstance(first, m.BrokerHeartbeatRequest)
        assert (first.target_state, first.broker_epoch) == (BrokerState.INITIAL, -1)
        assert (first.listeners[0].host, first.listeners[0].port) == ("node-4", 40000 - 65536)

    asyncio.run(run())


def test_a_controller_that_is_not_active_names_the_one_that_is() -> None:
    async def run() -> None:
        standby, unasked, chosen = Scripted(not_active(3)), Scripted(not_active(-1)), Scripted(active_controller)
        async with controllers(standby, unasked, chosen) as voters:

            async def story(broker: Broker) -> None:
                await broker.until(granted)

            await live(Broker(voters), story)
        assert (len(standby.asked), len(unasked.asked)) == (1, 0)

    asyncio.run(run())


@pytest.mark.requirement("D631-05")
def test_a_heartbeat_that_is_not_answered_in_time_is_given_up_and_its_late_answer_never_counts() -> None:
    async def run() -> None:
        release = asyncio.Event()

        async def late(request: Request) -> Message:
            await release.wait()
            return leased(request, BrokerState.FENCED, epoch=6)

        silent, other = Scripted(late), Scripted(active_controller)
        async with controllers(silent, other) as voters:

            async def story(broker: Broker) -> None:
                await broker.until(granted)
                release.set()
                seen = len(other.asked)
                await broker.until(lambda _: len(other.asked) > seen + 2)
                assert broker.lifecycle.epoch == 7

            await live(Broker(voters, interval=0.02, timeout=1.0), story)
        assert len(silent.asked) == 1

    asyncio.run(run())


def test_a_lease_that_is_not_renewed_ends_and_the_next_heartbeats_say_fenced() -> None:
    async def run() -> None:
        def grants_a_short_lease_once(request: Request) -> Message:
            body = request.body
            assert isinstance(body, m.BrokerHeartbeatRequest)
            if body.target_state == BrokerState.INITIAL:
                return leased(request, BrokerState.FENCED, lease_ms=200)
            return not_active(-1)(request)

        controller = Scripted(grants_a_short_lease_once)
        async with controllers(controller) as voters:

            async def story(broker: Broker) -> None:
                await broker.until(granted)
                await broker.until(lambda lifecycle: lifecycle.lease_ends_at is None)
                seen = len(controller.asked)
                await broker.until(lambda _: len(controller.asked) > seen + 1)
                last = controller.asked[-1]
                assert isinstance(last, m.BrokerHeartbeatRequest)
                assert (last.target_state, last.broker_epoch) == (BrokerState.FENCED, 7)

            await live(Broker(voters, interval=0.02), story)

    asyncio.run(run())


@pytest.mark.requirement("K631-35", "K631-45")
def test_a_stopping_broker_asks_for_shutdown_at_once_and_ends_when_it_is_granted() -> None:
    async def run() -> None:
        controller = Scripted(active_controller)
        async with controllers(controller) as voters:
            broker = Broker(voters, reached=7)
            running = asyncio.create_task(broker.heartbeats.run())
            await broker.until(active)
            broker.heartbeats.stop()
            async with asyncio.timeout(5):
                await running
            assert broker.lifecycle.state is BrokerState.SHUTDOWN
            broker.link.close()

    asyncio.run(run())


def test_a_stopping_broker_that_lost_its_id_ends_without_a_grant() -> None:
    async def run() -> None:
        def stale(request: Request) -> Message:
            body = request.body
            assert isinstance(body, m.BrokerHeartbeatRequest)
            if body.target_state == BrokerState.INITIAL:
                return active_controller(request)
            return m.BrokerHeartbeatResponse(error_code=Error.STALE_BROKER_EPOCH, active_controller_id=1)

        async with controllers(Scripted(stale)) as voters:
            broker = Broker(voters, reached=7)
            running = asyncio.create_task(broker.heartbeats.run())
            await broker.until(granted)
            broker.heartbeats.stop()
            async with asyncio.timeout(5):
                await running
            assert broker.lifecycle.state is BrokerState.FENCED
            broker.link.close()

    asyncio.run(run())
