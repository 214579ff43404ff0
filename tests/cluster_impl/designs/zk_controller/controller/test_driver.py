"""A term on a real ZooKeeper: events one at a time, watches and ticks as events, requests to brokers, and an end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from cluster_impl.coordination.errors import CoordinationError
from cluster_impl.coordination.session_state import SessionState
from cluster_impl.coordination.steps import (
    Children,
    Create,
    Exists,
    Get,
    Outcome,
    SetData,
    Steps,
)
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.zk_controller.controller import events
from cluster_impl.designs.zk_controller.controller.channels import Channels
from cluster_impl.designs.zk_controller.controller.driver import Term
from cluster_impl.designs.zk_controller.controller.elector import Elected, Elector
from cluster_impl.designs.zk_controller.controller.moved import ControllerMoved
from cluster_impl.designs.zk_controller.znodes import CONTROLLER_EPOCH
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error
from tests.cluster_impl.coordination.clients import client, run, until
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.designs.zk_controller.controller.test_channels import Broker, connect, registration
from tests.cluster_impl.designs.zk_controller.controller.toy_core import ToyCore
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer

pytestmark = pytest.mark.integration


@asynccontextmanager
async def term(core: ToyCore, zookeeper: ZooKeeper) -> AsyncIterator[Term]:
    elector = Elector(zookeeper, 4, lambda _: None)
    won = None
    while won is None:
        won = await elector.stand()
        if won is None:
            await elector.until_changed()
    await zookeeper.confirm()
    made = Term(core, won, zookeeper, lambda answered: Channels(connect, "INTERNAL", 30.0, answered))
    running = asyncio.create_task(made.run())
    try:
        yield made
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError, ControllerMoved, CoordinationError):
            await running
        with suppress(CoordinationError):
            await elector.resign(won)


def asked(request: Message, replies: list[Message]) -> events.Asked:
    return events.Asked(request, 0, replies.append, time.monotonic())


@pytest.mark.requirement("INT-64")
def test_a_term_begins_with_the_election_and_ends_with_the_resignation(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with client(server.connect) as zookeeper:
            core = ToyCore()
            async with term(core, zookeeper) as running:
                await until(lambda: core.kinds() == ["Elected"])
                [elected] = core.events
                assert isinstance(elected, events.Elected)
                assert elected.epoch == running.won.epoch
            assert core.kinds() == ["Elected", "Resigned"]

    run(test())


def test_events_are_handled_one_at_a_time_in_their_order(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with client(server.connect) as zookeeper:
            order: list[str] = []

            def steps(event: events.Event) -> Steps[None]:
                if isinstance(event, events.Asked):
                    order.append(f"begin {event.version}")
                    for _ in range(3):
                        yield [Exists("/")]
                    order.append(f"end {event.version}")

            core = ToyCore(steps)
            async with term(core, zookeeper) as running:
                for number in range(3):
                    running.ask(events.Asked(m.ControlledShutdownRequest(), number, lambda _: None, time.monotonic()))
                await until(lambda: len(order) == 6)
            assert order == ["begin 0", "end 0", "begin 1", "end 1", "begin 2", "end 2"]

    run(test())


def test_what_the_core_watches_comes_as_an_event_until_the_term_is_over(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with client(server.connect) as zookeeper, client(server.connect) as other:
            await other.create("/told", b"")

            def steps(event: events.Event) -> Steps[None]:
                if isinstance(event, events.Elected | events.ZnodeChanged):
                    yield [Get("/told", watch=True), Children("/told", watch=True), Exists("/later", watch=True)]

            core = ToyCore(steps)
            async with term(core, zookeeper):
                await until(lambda: zookeeper.watches == 4)  # the elector's too
                await other.set("/told", b"1", 0)
                await until(lambda: len(core.events) == 2)
                await until(lambda: zookeeper.watches == 4)
                await other.create("/told/child", b"")
                await until(lambda: len(core.events) == 3)
                await until(lambda: zookeeper.watches == 4)
                await other.create("/later", b"")
                await until(lambda: len(core.events) == 4)
                paths = [event.path for event in core.events if isinstance(event, events.ZnodeChanged)]
                assert paths == ["/told", "/told", "/later"]
            assert zookeeper.watches <= 1
            await other.set("/told", b"2", 1)
            await zookeeper.sync()
            assert core.kinds()[-1] == "Resigned"

    run(test())


def test_a_tick_comes_when_the_core_asked_for_it(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with client(server.connect) as zookeeper:
            core = ToyCore(tick_at=time.monotonic() + 0.2)
            wanted = core.tick_at

            def steps(event: events.Event) -> Steps[None]:
                if isinstance(event, events.Tick):
                    core.tick_at = None
                yield [Exists("/")]

            core.steps_of = steps
            async with term(core, zookeeper):
                await until(lambda: core.kinds() == ["Elected", "Tick"])
                tick = core.events[-1]
                assert isinstance(tick, events.Tick)
                assert wanted is not None
                assert tick.now >= wanted - 0.01

    run(test())


def test_a_core_that_wants_ticks_all_the_time_still_handles_what_else_comes(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with client(server.connect) as zookeeper:
            core = ToyCore(tick_at=0.0)
            async with term(core, zookeeper) as running:
                await until(lambda: core.kinds().count("Tick") > 10)
                running.ask(asked(m.ControlledShutdownRequest(), []))
                await until(lambda: "Asked" in core.kinds())
                at = core.kinds().index("Asked")
                await until(lambda: "Tick" in core.kinds()[at:])

    run(test())


def test_who_stood_still_reads_what_was_sent_meanwhile_before_it_looks_at_the_time(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with client(server.connect) as zookeeper:
            broker = Broker()
            await broker.start()
            due = time.monotonic() + 1
            core = ToyCore(tick_at=due, registered={5: registration(5, broker.port)})

            def steps(event: events.Event) -> Steps[None]:
                if isinstance(event, events.Elected):
                    yield [Exists("/")]
                    core.requests.append((5, m.UpdateMetadataRequest()))
                elif isinstance(event, events.Tick):
                    core.tick_at = None

            core.steps_of = steps
            broker.held = asyncio.get_running_loop().create_future()
            async with term(core, zookeeper):
                await until(lambda: bool(broker.seen))
                broker.held.set_result(m.UpdateMetadataResponse())
                time.sleep(max(0.0, due - time.monotonic()) + 0.3)  # noqa: ASYNC251  # the whole process stands still
                await until(lambda: "Tick" in core.kinds())
                assert core.kinds() == ["Elected", "BrokerAnswered", "Tick"]
            await broker.server.close()

    run(test())


@pytest.mark.requirement("INT-20")
def test_requests_reach_the_registered_brokers_and_answers_come_back_as_events(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with client(server.connect) as zookeeper:
            broker = Broker()
            await broker.start()
            core = ToyCore(registered={5: registration(5, broker.port)})

            def steps(event: events.Event) -> Steps[None]:
                if isinstance(event, events.Elected):
                    yield [Exists("/")]
                    core.requests += [(5, m.UpdateMetadataRequest(controller_epoch=at)) for at in (1, 2)]
                    core.requests.append((6, m.UpdateMetadataRequest(controller_epoch=3)))

            core.steps_of = steps
            async with term(core, zookeeper):
                await until(lambda: core.kinds() == ["Elected", "BrokerAnswered", "BrokerAnswered"])
                answered = core.events[-1]
                assert isinstance(answered, events.BrokerAnswered)
                assert answered.broker_id == 5
                assert isinstance(answered.request, m.UpdateMetadataRequest)
                assert answered.request.controller_epoch == 2
                assert isinstance(answered.response, m.UpdateMetadataResponse)
            assert broker.seen == [1, 2]
            await broker.server.close()

    run(test())


@pytest.mark.requirement("DINT-16")
def test_a_heartbeat_is_answered_while_an_event_waits_for_zookeeper(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect, session_timeout=20) as zookeeper:

            def steps(event: events.Event) -> Steps[None]:
                if isinstance(event, events.Asked):
                    yield [Exists("/")]
                    event.reply(m.ControlledShutdownResponse())

            core = ToyCore(steps)
            async with term(core, zookeeper) as running:
                await until(lambda: core.kinds() == ["Elected"])
                relay.stall()
                slow: list[Message] = []
                fast: list[Message] = []
                running.ask(asked(m.ControlledShutdownRequest(), slow))
                await until(lambda: core.kinds() == ["Elected", "Asked"])
                running.ask(asked(m.MetadataHeartbeatRequest(), fast))
                assert (len(slow), len(fast)) == (0, 1)
                relay.heal()
                await until(lambda: len(slow) == 1)

    run(test())


@pytest.mark.requirement("D343-20")
def test_while_the_session_is_suspended_no_time_passes_for_the_core(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect, session_timeout=20) as zookeeper:
            core = ToyCore()

            def steps(event: events.Event) -> Steps[None]:
                if isinstance(event, events.Elected):
                    core.tick_at = time.monotonic() + 1
                elif isinstance(event, events.Reconnected):
                    core.tick_at = time.monotonic() + 0.1
                elif isinstance(event, events.Tick):
                    core.tick_at = None
                yield from ()

            core.steps_of = steps
            async with term(core, zookeeper):
                await until(lambda: core.kinds() == ["Elected"])
                relay.cut()
                await until(lambda: zookeeper.state is SessionState.SUSPENDED)
                assert core.tick_at is not None
                overdue = core.tick_at + 0.1
                await until(lambda: time.monotonic() > overdue)
                assert core.kinds() == ["Elected"]
                relay.heal()
                await until(lambda: len(core.events) == 3)
                assert core.kinds() == ["Elected", "Reconnected", "Tick"]

    run(test())


@pytest.mark.requirement("D343-20")
def test_a_controller_that_zookeeper_was_silent_to_for_a_session_grants_nothing(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect, session_timeout=1) as zookeeper:

            def steps(event: events.Event) -> Steps[None]:
                if isinstance(event, events.Asked):
                    event.reply(m.ControlledShutdownResponse())
                yield from ()

            core = ToyCore(steps)
            async with term(core, zookeeper) as running:

                async def ask(request: Message) -> int:
                    replies: list[Message] = []
                    running.ask(asked(request, replies))
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
                assert "Asked" not in core.kinds()

    run(test())


@pytest.mark.requirement("DINT-04")
def test_a_term_ends_when_another_controller_raised_the_epoch(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with client(server.connect) as zookeeper, client(server.connect) as other:
            outcomes: list[Outcome] = []

            def steps(event: events.Event) -> Steps[None]:
                if isinstance(event, events.Asked):
                    outcomes.extend((yield [Create("/too-late"), SetData("/too-late", b"x")]))

            core = ToyCore(steps)
            async with term(core, zookeeper) as running:
                await until(lambda: core.kinds() == ["Elected"])
                await other.set(CONTROLLER_EPOCH, b"1000", running.won.epoch_version)
                replies: list[Message] = []
                running.ask(asked(m.ControlledShutdownRequest(), replies))
                waiting: list[Message] = []
                running.ask(asked(m.ControlledShutdownRequest(), waiting))
                await until(lambda: core.kinds()[-1] == "Resigned")
                late: list[Message] = []
                running.ask(asked(m.ControlledShutdownRequest(), late))
                refusal = m.ControlledShutdownResponse(error_code=Error.NOT_CONTROLLER)
                assert (outcomes, waiting, late) == ([], [refusal], [refusal])
                assert core.kinds() == ["Elected", "Asked", "Resigned"]
            assert await other.exists("/too-late") is None

    run(test())


def test_each_election_gives_the_next_epoch(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with client(server.connect) as zookeeper:
            won: list[Elected] = []
            for _ in range(3):
                async with term(ToyCore(), zookeeper) as running:
                    won.append(running.won)
            assert [each.epoch - won[0].epoch for each in won] == [0, 1, 2]

    run(test())
