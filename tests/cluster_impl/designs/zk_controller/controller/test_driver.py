"""A term on a real ZooKeeper: events one at a time, watches and ticks as events, requests to brokers, and an end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

import pytest

from fencepost.cluster_impl.coordination.errors import CoordinationError
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.steps import (
    Children,
    Create,
    Exists,
    Get,
    Outcome,
    SetData,
    Steps,
)
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.zk_controller.controller import events
from fencepost.cluster_impl.designs.zk_controller.controller.controller import Controller
from fencepost.cluster_impl.designs.zk_controller.controller.events import ControllerMoved
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.channels import Channels
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.elector import Elector, WonElection
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.term import ControllerTerm
from fencepost.cluster_impl.designs.zk_controller.znodes import CONTROLLER_EPOCH
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.coordination.clients import client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.designs.zk_controller.controller.scripted_controller import ScriptedController
from tests.cluster_impl.designs.zk_controller.controller.test_channels import Broker, connect, registration
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer
from tests.waiting import until

pytestmark = pytest.mark.integration


@asynccontextmanager
async def term(controller: ScriptedController, zookeeper: ZooKeeper) -> AsyncIterator[ControllerTerm]:
    elector = Elector(zookeeper, 4, lambda _: None)
    won = None
    while won is None:
        won = await elector.stand()
        if won is None:
            await elector.until_changed()
    await zookeeper.confirm()
    made = ControllerTerm(
        cast("Controller", controller),
        won,
        zookeeper,
        lambda answered: Channels(connect, "INTERNAL", 30.0, answered),
    )
    running = asyncio.create_task(made.run())
    try:
        yield made
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError, ControllerMoved, CoordinationError):
            await running
        with suppress(CoordinationError):
            await elector.resign(won)


def received(request: Message, replies: list[Message]) -> events.ReceivedRequest:
    return events.ReceivedRequest(request, 0, replies.append, time.monotonic())


@pytest.mark.requirement("INT-64")
async def test_a_term_begins_with_the_election_and_ends_with_the_resignation(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        controller = ScriptedController()
        async with term(controller, zookeeper) as running:
            await until(lambda: controller.kinds() == ["Election"])
            [elected] = controller.events
            assert isinstance(elected, events.Election)
            assert elected.epoch == running.won.epoch
        assert controller.kinds() == ["Election", "Resignation"]


async def test_events_are_handled_one_at_a_time_in_their_order(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        order: list[str] = []

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.ReceivedRequest):
                order.append(f"begin {event.version}")
                for _ in range(3):
                    yield [Exists("/")]
                order.append(f"end {event.version}")

        controller = ScriptedController(steps)
        async with term(controller, zookeeper) as running:
            for number in range(3):
                running.ask(
                    events.ReceivedRequest(m.ControlledShutdownRequest(), number, lambda _: None, time.monotonic())
                )
            await until(lambda: len(order) == 6)
        assert order == ["begin 0", "end 0", "begin 1", "end 1", "begin 2", "end 2"]


async def test_what_the_core_watches_comes_as_an_event_until_the_term_is_over(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper, client(server.connect) as other:
        await other.create("/watched", b"")

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.Election | events.ZnodeChange):
                yield [Get("/watched", watch=True), Children("/watched", watch=True), Exists("/later", watch=True)]

        controller = ScriptedController(steps)
        async with term(controller, zookeeper):
            await until(lambda: zookeeper.watches == 4)  # the elector's too
            await other.set("/watched", b"1", 0)
            await until(lambda: len(controller.events) == 2)
            await until(lambda: zookeeper.watches == 4)
            await other.create("/watched/child", b"")
            await until(lambda: len(controller.events) == 3)
            await until(lambda: zookeeper.watches == 4)
            await other.create("/later", b"")
            await until(lambda: len(controller.events) == 4)
            paths = [event.path for event in controller.events if isinstance(event, events.ZnodeChange)]
            assert paths == ["/watched", "/watched", "/later"]
        assert zookeeper.watches <= 1
        await other.set("/watched", b"2", 1)
        await zookeeper.sync()
        assert controller.kinds()[-1] == "Resignation"


async def test_a_tick_comes_when_the_core_asked_for_it(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        controller = ScriptedController(tick_at=time.monotonic() + 0.2)
        wanted = controller.tick_at

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.Tick):
                controller.tick_at = None
            yield [Exists("/")]

        controller.steps_of = steps
        async with term(controller, zookeeper):
            await until(lambda: controller.kinds() == ["Election", "Tick"])
            tick = controller.events[-1]
            assert isinstance(tick, events.Tick)
            assert wanted is not None
            assert tick.now >= wanted - 0.01


async def test_a_core_that_wants_ticks_all_the_time_still_handles_what_else_comes(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        controller = ScriptedController(tick_at=0.0)
        async with term(controller, zookeeper) as running:
            await until(lambda: controller.kinds().count("Tick") > 10)
            running.ask(received(m.ControlledShutdownRequest(), []))
            await until(lambda: "ReceivedRequest" in controller.kinds())
            at = controller.kinds().index("ReceivedRequest")
            await until(lambda: "Tick" in controller.kinds()[at:])


async def test_a_suspended_process_reads_what_was_sent_meanwhile_before_it_looks_at_the_time(
    server: ZooKeeperServer,
) -> None:
    async with client(server.connect) as zookeeper:
        broker = Broker()
        await broker.start()
        due = time.monotonic() + 1
        controller = ScriptedController(tick_at=due, registered={5: registration(5, broker.port)})

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.Election):
                yield [Exists("/")]
                controller.requests.append((5, m.UpdateMetadataRequest()))
            elif isinstance(event, events.Tick):
                controller.tick_at = None

        controller.steps_of = steps
        broker.held = asyncio.get_running_loop().create_future()
        async with term(controller, zookeeper):
            await until(lambda: bool(broker.seen))
            broker.held.set_result(m.UpdateMetadataResponse())
            time.sleep(max(0.0, due - time.monotonic()) + 0.3)  # noqa: ASYNC251  # the whole process stands still
            await until(lambda: "Tick" in controller.kinds())
            assert controller.kinds() == ["Election", "BrokerResponse", "Tick"]
        await broker.server.close()


@pytest.mark.requirement("INT-20")
async def test_requests_reach_the_registered_brokers_and_answers_come_back_as_events(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        broker = Broker()
        await broker.start()
        controller = ScriptedController(registered={5: registration(5, broker.port)})

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.Election):
                yield [Exists("/")]
                controller.requests += [(5, m.UpdateMetadataRequest(controller_epoch=at)) for at in (1, 2)]
                controller.requests.append((6, m.UpdateMetadataRequest(controller_epoch=3)))

        controller.steps_of = steps
        async with term(controller, zookeeper):
            await until(lambda: controller.kinds() == ["Election", "BrokerResponse", "BrokerResponse"])
            answered = controller.events[-1]
            assert isinstance(answered, events.BrokerResponse)
            assert answered.broker_id == 5
            assert isinstance(answered.request, m.UpdateMetadataRequest)
            assert answered.request.controller_epoch == 2
            assert isinstance(answered.response, m.UpdateMetadataResponse)
        assert broker.seen == [1, 2]
        await broker.server.close()


@pytest.mark.requirement("DINT-16")
async def test_a_heartbeat_is_answered_while_an_event_waits_for_zookeeper(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect, session_timeout=20) as zookeeper:

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.ReceivedRequest):
                yield [Exists("/")]
                event.reply(m.ControlledShutdownResponse())

        controller = ScriptedController(steps)
        async with term(controller, zookeeper) as running:
            await until(lambda: controller.kinds() == ["Election"])
            relay.stall()
            slow: list[Message] = []
            fast: list[Message] = []
            running.ask(received(m.ControlledShutdownRequest(), slow))
            await until(lambda: controller.kinds() == ["Election", "ReceivedRequest"])
            running.ask(received(m.MetadataHeartbeatRequest(), fast))
            assert (len(slow), len(fast)) == (0, 1)
            relay.heal()
            await until(lambda: len(slow) == 1)


@pytest.mark.requirement("D343-20")
async def test_while_the_session_is_suspended_no_time_passes_for_the_core(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect, session_timeout=20) as zookeeper:
        controller = ScriptedController()

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.Election):
                controller.tick_at = time.monotonic() + 1
            elif isinstance(event, events.Reconnection):
                controller.tick_at = time.monotonic() + 0.1
            elif isinstance(event, events.Tick):
                controller.tick_at = None
            yield from ()

        controller.steps_of = steps
        async with term(controller, zookeeper):
            await until(lambda: controller.kinds() == ["Election"])
            relay.cut()
            await until(lambda: zookeeper.state is SessionState.SUSPENDED)
            assert controller.tick_at is not None
            overdue = controller.tick_at + 0.1
            await until(lambda: time.monotonic() > overdue)
            assert controller.kinds() == ["Election"]
            relay.heal()
            await until(lambda: len(controller.events) == 3)
            assert controller.kinds() == ["Election", "Reconnection", "Tick"]


@pytest.mark.requirement("D343-20")
async def test_a_controller_that_zookeeper_was_silent_to_for_a_session_grants_nothing(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect, session_timeout=1) as zookeeper:

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.ReceivedRequest):
                event.reply(m.ControlledShutdownResponse())
            yield from ()

        controller = ScriptedController(steps)
        async with term(controller, zookeeper) as running:

            async def ask(request: Message) -> int:
                replies: list[Message] = []
                running.ask(received(request, replies))
                await until(lambda: bool(replies))
                assert isinstance(replies[0], m.ControlledShutdownResponse | m.MetadataHeartbeatResponse)
                return replies[0].error_code

            await zookeeper.confirm()
            relay.stall()
            while await ask(m.MetadataHeartbeatRequest()) == Error.NONE:  # noqa: ASYNC110
                await asyncio.sleep(0.002)
            assert time.monotonic() >= zookeeper.synced_at + 1
            await until(lambda: zookeeper.state is SessionState.SUSPENDED)
            assert await ask(m.ControlledShutdownRequest()) == Error.NOT_CONTROLLER
            assert "ReceivedRequest" not in controller.kinds()


@pytest.mark.requirement("DINT-04")
async def test_a_term_ends_when_another_controller_raised_the_epoch(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper, client(server.connect) as other:
        outcomes: list[Outcome] = []

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.ReceivedRequest):
                outcomes.extend((yield [Create("/too-late"), SetData("/too-late", b"x")]))

        controller = ScriptedController(steps)
        async with term(controller, zookeeper) as running:
            await until(lambda: controller.kinds() == ["Election"])
            await other.set(CONTROLLER_EPOCH, b"1000", running.won.epoch_version)
            replies: list[Message] = []
            running.ask(received(m.ControlledShutdownRequest(), replies))
            waiting: list[Message] = []
            running.ask(received(m.ControlledShutdownRequest(), waiting))
            await until(lambda: controller.kinds()[-1] == "Resignation")
            late: list[Message] = []
            running.ask(received(m.ControlledShutdownRequest(), late))
            refusal = m.ControlledShutdownResponse(error_code=Error.NOT_CONTROLLER)
            assert (outcomes, waiting, late) == ([], [refusal], [refusal])
            assert controller.kinds() == ["Election", "ReceivedRequest", "Resignation"]
        assert await other.exists("/too-late") is None


async def test_each_election_gives_the_next_epoch(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        won: list[WonElection] = []
        for _ in range(3):
            async with term(ScriptedController(), zookeeper) as running:
                won.append(running.won)
        assert [each.epoch - won[0].epoch for each in won] == [0, 1, 2]
