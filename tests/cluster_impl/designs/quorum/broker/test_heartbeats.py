"""A broker's heartbeats on real sockets: responses, silence, and controllers that are not active."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from fencepost.cluster_impl.config.nodes import QuorumBrokerNodeConfig
from fencepost.cluster_impl.config.security import jaas_key
from fencepost.cluster_impl.config.values import Voter
from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.heartbeats import LeaseHeartbeats, reported
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.shared.heartbeats import HeartbeatTiming
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import connector
from fencepost.cluster_impl.wire.codec import Message, signed16
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from fencepost.cluster_impl.wire.server import Request
from tests.cluster_impl.configs import config_of
from tests.cluster_impl.designs.quorum.broker.scripted_controllers import ScriptedController, controllers

LEASE_MS = 60_000


def leased(request: Request, state: FenceState, epoch: int = 7, lease_ms: int = LEASE_MS) -> Message:
    body = request.body
    assert isinstance(body, m.BrokerHeartbeatRequest)
    end = body.lease_start_time_ms + lease_ms
    return m.BrokerHeartbeatResponse(
        active_controller_id=1, next_state=state, broker_epoch=epoch, lease_end_time_ms=end
    )


def active_controller(request: Request) -> Message:
    """Grants epoch 7 to INITIAL, answers ACTIVE from offset 7 on, and grants every shutdown."""
    body = request.body
    assert isinstance(body, m.BrokerHeartbeatRequest)
    if body.target_state == FenceState.SHUTDOWN:
        return leased(request, FenceState.SHUTDOWN, lease_ms=0)
    caught_up = body.target_state == FenceState.ACTIVE and body.cur_metadata_offset >= 7
    return leased(request, FenceState.ACTIVE if caught_up else FenceState.FENCED)


def not_active(active: int) -> Callable[[Request], Message]:
    return lambda _: m.BrokerHeartbeatResponse(error_code=Error.NOT_CONTROLLER, active_controller_id=active)


@dataclass
class BrokerUnderTest:
    voters: list[Voter]
    interval: float = 60.0
    timeout: float = 5.0
    reached: int = 0
    epochs: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lifecycle = LeaseLifecycle()
        finder = ControllerFinder(self.voters)
        self.link = ActiveControllerLink(finder, connector(QUORUM_CONTROLLER, "broker-4", Hosts()), 5.0)
        self.heartbeats = LeaseHeartbeats(
            4,
            [m.BrokerHeartbeatRequest.Listener(name="CLIENT", host="node-4", port=signed16(40000))],
            "r1",
            self.lifecycle,
            self.link,
            finder,
            HeartbeatTiming(self.interval, self.timeout),
            lambda: self.reached,
            lambda: self.epochs.append(self.lifecycle.epoch),
        )

    async def until(self, condition: Callable[[LeaseLifecycle], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition(self.lifecycle):  # noqa: ASYNC110  # a pure machine has no event to wait for
                await asyncio.sleep(0.005)


def active(lifecycle: LeaseLifecycle) -> bool:
    return lifecycle.serving(time.monotonic())


def granted(lifecycle: LeaseLifecycle) -> bool:
    return lifecycle.epoch == 7


async def live(broker: BrokerUnderTest, scenario: Callable[[BrokerUnderTest], Awaitable[None]]) -> None:
    running = asyncio.create_task(broker.heartbeats.run())
    try:
        await scenario(broker)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        broker.heartbeats.close()
        broker.link.close()


async def test_a_broker_becomes_active_as_soon_as_its_metadata_has_caught_up_not_an_interval_later() -> None:
    controller = ScriptedController(active_controller)
    async with controllers(controller) as voters:

        async def scenario(broker: BrokerUnderTest) -> None:
            await broker.until(granted)
            assert broker.epochs == [7]
            assert not active(broker.lifecycle)
            broker.reached = 7
            broker.heartbeats.metadata_advanced()
            await broker.until(active)

        await live(BrokerUnderTest(voters), scenario)
    first = controller.asked[0]
    assert isinstance(first, m.BrokerHeartbeatRequest)
    assert (first.target_state, first.broker_epoch) == (FenceState.INITIAL, -1)
    assert (first.listeners[0].host, first.listeners[0].port) == ("node-4", 40000 - 65536)


async def test_a_controller_that_is_not_active_names_the_one_that_is() -> None:
    standby, unasked, chosen = (
        ScriptedController(not_active(3)),
        ScriptedController(not_active(-1)),
        ScriptedController(active_controller),
    )
    async with controllers(standby, unasked, chosen) as voters:

        async def scenario(broker: BrokerUnderTest) -> None:
            await broker.until(granted)

        await live(BrokerUnderTest(voters), scenario)
    assert (len(standby.asked), len(unasked.asked)) == (1, 0)


@pytest.mark.requirement("D631-05")
async def test_a_heartbeat_that_is_not_answered_in_time_is_given_up_and_its_late_answer_never_counts() -> None:
    release = asyncio.Event()

    async def late(request: Request) -> Message:
        await release.wait()
        return leased(request, FenceState.FENCED, epoch=6)

    silent, other = ScriptedController(late), ScriptedController(active_controller)
    async with controllers(silent, other) as voters:

        async def scenario(broker: BrokerUnderTest) -> None:
            await broker.until(granted)
            release.set()
            seen = len(other.asked)
            await broker.until(lambda _: len(other.asked) > seen + 2)
            assert broker.lifecycle.epoch == 7

        await live(BrokerUnderTest(voters, interval=0.02, timeout=1.0), scenario)
    assert len(silent.asked) == 1


async def test_a_lease_that_is_not_renewed_ends_and_the_next_heartbeats_say_fenced() -> None:
    def grants_a_short_lease_once(request: Request) -> Message:
        body = request.body
        assert isinstance(body, m.BrokerHeartbeatRequest)
        if body.target_state == FenceState.INITIAL:
            return leased(request, FenceState.FENCED, lease_ms=200)
        return not_active(-1)(request)

    controller = ScriptedController(grants_a_short_lease_once)
    async with controllers(controller) as voters:

        async def scenario(broker: BrokerUnderTest) -> None:
            await broker.until(granted)
            await broker.until(lambda lifecycle: lifecycle.fences_at is None)
            seen = len(controller.asked)
            await broker.until(lambda _: len(controller.asked) > seen + 1)
            last = controller.asked[-1]
            assert isinstance(last, m.BrokerHeartbeatRequest)
            assert (last.target_state, last.broker_epoch) == (FenceState.FENCED, 7)

        await live(BrokerUnderTest(voters, interval=0.02), scenario)


@pytest.mark.requirement("K631-35", "K631-45")
async def test_a_stopping_broker_asks_for_shutdown_at_once_and_ends_when_it_is_granted() -> None:
    controller = ScriptedController(active_controller)
    async with controllers(controller) as voters:
        broker = BrokerUnderTest(voters, reached=7)
        running = asyncio.create_task(broker.heartbeats.run())
        await broker.until(active)
        broker.heartbeats.stop()
        async with asyncio.timeout(20):
            await running
        assert broker.lifecycle.state is FenceState.SHUTDOWN
        broker.link.close()


async def test_a_stopping_broker_that_lost_its_id_ends_without_a_grant() -> None:
    def stale(request: Request) -> Message:
        body = request.body
        assert isinstance(body, m.BrokerHeartbeatRequest)
        if body.target_state == FenceState.INITIAL:
            return active_controller(request)
        return m.BrokerHeartbeatResponse(error_code=Error.STALE_BROKER_EPOCH, active_controller_id=1)

    async with controllers(ScriptedController(stale)) as voters:
        broker = BrokerUnderTest(voters, reached=7)
        running = asyncio.create_task(broker.heartbeats.run())
        await broker.until(granted)
        broker.heartbeats.stop()
        async with asyncio.timeout(20):
            await running
        assert broker.lifecycle.state is FenceState.FENCED
        broker.link.close()


@pytest.mark.requirement("K631-54", "D631-32")
def test_a_broker_reports_its_rack_and_the_security_protocol_of_each_listener() -> None:
    at = "127.0.0.1:9"
    config = config_of(
        QuorumBrokerNodeConfig,
        {
            "process.roles": "broker",
            "broker.id": "4",
            "broker.rack": "r1",
            "cluster.id": "c",
            "controller.connect": f"1@{at}",
            "listeners": f"INTERNAL://{at},CLIENT://{at}",
            "listener.security.protocol.map": "INTERNAL:PLAINTEXT,CLIENT:SASL_PLAINTEXT",
            jaas_key("CLIENT", "PLAIN"): 'PlainLoginModule required user_a="b";',
            "log.dirs": "/absent",
        },
    )
    assert config.rack == "r1"
    assert [(each.name, each.security_protocol) for each in reported(config)] == [("INTERNAL", 0), ("CLIENT", 2)]
