"""Two brokers that may both be the controller, on a real ZooKeeper, asked over real connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.steps import Create, SetData, Steps
from fencepost.cluster_impl.designs.zk_controller.controller import events
from fencepost.cluster_impl.designs.zk_controller.controller.controller import Controller
from fencepost.cluster_impl.designs.zk_controller.controller.refusals import CONTROLLER_REQUESTS
from fencepost.cluster_impl.designs.zk_controller.controller.runtime import host as module
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.channels import Channels
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.host import ControllerHost
from fencepost.cluster_impl.designs.zk_controller.znodes import CONTROLLER
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import R, RequestMessage
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.registry import ZK_BROKER
from fencepost.cluster_impl.wire.server import Server
from tests.cluster_impl.coordination.clients import Client, client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.designs.zk_controller.controller.scripted_controller import Handle, ScriptedController, nothing
from tests.cluster_impl.designs.zk_controller.controller.test_channels import connect
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer
from tests.waiting import until

pytestmark = pytest.mark.integration


class Candidate:
    """A host with a toy core for each term, and a listener in front of it."""

    def __init__(self, zookeeper: Client, broker_id: int, steps: Handle) -> None:
        self.is_registered = True
        self.zookeeper = zookeeper
        self.steps = steps
        self.controllers: list[ScriptedController] = []
        self.host = ControllerHost(
            broker_id,
            zookeeper,
            self._machines,
            lambda answered: Channels(connect, "INTERNAL", 30.0, answered),
            lambda: self.is_registered,
        )
        self.server = Server(ZK_BROKER, self.host.handlers)
        self.port = 0

    def _machines(self) -> Controller:
        self.controllers.append(ScriptedController(lambda event: self.steps(event)))
        return cast("Controller", self.controllers[-1])

    async def ask(self, request: RequestMessage[R], version: int = 0) -> R:
        connection = await connect("127.0.0.1", self.port, 30)
        try:
            return await connection.request(request, version, timeout=30)
        finally:
            connection.close()


@asynccontextmanager
async def candidate(zookeeper: Client, broker_id: int, steps: Handle = nothing) -> AsyncIterator[Candidate]:
    made = Candidate(zookeeper, broker_id, steps)
    made.port = await made.server.listen("127.0.0.1", 0, "INTERNAL")
    await made.host.start()
    try:
        yield made
    finally:
        await made.host.stop()
        await made.server.close()


@pytest.mark.requirement("INT-01", "INT-05")
async def test_when_the_controller_stops_the_other_candidate_takes_over_at_once(server: ZooKeeperServer) -> None:
    async with (
        client(server.connect, 60) as first,
        client(server.connect, 60) as second,
        candidate(second, 5) as b,
        candidate(first, 4) as a,
    ):
        await until(lambda: a.host.is_active or b.host.is_active)
        active, other = (a, b) if a.host.is_active else (b, a)
        known = 4 if active is a else 5
        await until(lambda: other.host.known_controller() == known)
        await active.host.stop()
        await until(lambda: other.host.is_active)
        assert not active.host.is_active
        assert other.host.known_controller() != known


@pytest.mark.requirement("INT-62", "DINT-04")
async def test_a_controller_that_was_away_for_longer_than_its_session_writes_nothing(server: ZooKeeperServer) -> None:
    """It is cut off from ZooKeeper in the middle of writing; another is elected; then it comes back."""

    async with (
        Relay(server.address, CLIENT_PORT) as relay,
        client(relay.connect, 0.5) as cut_off,
        client(server.connect) as kept,
    ):
        await kept.create("/written", b"")

        def write_for_ever(event: events.Event) -> Steps[None]:
            while isinstance(event, events.Election):
                yield [SetData("/written", b"old")]

        def write_once(event: events.Event) -> Steps[None]:
            if isinstance(event, events.Election):
                yield [SetData("/written", b"new")]

        async with candidate(cut_off, 4, write_for_ever) as old:
            await until(lambda: old.host.is_active)
            async with candidate(kept, 5, write_once) as new:
                while (await kept.get("/written")).data != b"old":
                    pass
                relay.stall()
                await until(lambda: new.host.is_active)
                while (await kept.get("/written")).data != b"new":
                    pass
                assert old.host.is_active
                relay.heal()
                await until(lambda: not old.host.is_active)
                await until(lambda: old.host.known_controller() == 5)
                assert SessionState.EXPIRED in cut_off.states
                assert (await kept.get("/written")).data == b"new"
                assert old.controllers[0].kinds() == ["Election", "Resignation"]


@pytest.mark.requirement("INT-63", "INT-64")
async def test_a_controller_whose_session_expired_is_elected_again_if_no_other_is(server: ZooKeeperServer) -> None:
    async with (
        Relay(server.address, CLIENT_PORT) as relay,
        client(relay.connect, 0.5) as zookeeper,
        client(server.connect) as other,
        candidate(zookeeper, 4) as alone,
    ):
        await until(lambda: alone.host.is_active)
        gone = asyncio.Event()
        await other.exists(CONTROLLER, lambda _: gone.set())
        relay.cut()
        await gone.wait()
        relay.heal()
        await until(lambda: len(alone.controllers) == 2 and alone.host.is_active)
        await until(lambda: bool(alone.controllers[1].events))
        first, second = (controller.events[0] for controller in alone.controllers)
        assert isinstance(first, events.Election)
        assert isinstance(second, events.Election)
        assert second.epoch == first.epoch + 1
        assert alone.controllers[0].kinds() == ["Election", "Resignation"]


async def test_a_short_loss_of_the_connection_ends_no_term(server: ZooKeeperServer) -> None:
    async with (
        Relay(server.address, CLIENT_PORT) as relay,
        client(relay.connect, 20) as zookeeper,
        candidate(zookeeper, 4) as alone,
    ):
        await until(lambda: alone.host.is_active)
        for _ in range(3):
            relay.cut()
            await until(lambda: zookeeper.state is SessionState.SUSPENDED)
            relay.heal()
            await zookeeper.until_connected()
        assert alone.host.is_active
        assert len(alone.controllers) == 1


@pytest.mark.requirement("D343-20")
async def test_an_idle_controller_stays_in_contact_with_zookeeper(server: ZooKeeperServer) -> None:
    async with client(server.connect, 1.5) as zookeeper, candidate(zookeeper, 4) as alone:
        await until(lambda: alone.host.is_active)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            assert (await alone.ask(m.MetadataHeartbeatRequest())).error_code == Error.NONE


@pytest.mark.requirement("D343-16")
async def test_a_broker_that_is_not_registered_is_no_candidate_until_it_is(server: ZooKeeperServer) -> None:
    async with (
        client(server.connect) as first,
        client(server.connect) as second,
        candidate(first, 4) as registered,
        candidate(second, 5) as other,
    ):
        await until(lambda: registered.host.is_active or other.host.is_active)
        active, idle = (registered, other) if registered.host.is_active else (other, registered)
        idle.is_registered = False
        await active.host.stop()
        await until(lambda: idle.host.known_controller() == -1)
        await second.sync()
        await first.sync()
        assert not idle.host.is_active
        idle.is_registered = True
        idle.host.reconsider()
        await until(lambda: idle.host.is_active)


async def test_deleting_its_znode_by_hand_moves_the_controller(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper, candidate(zookeeper, 4) as alone:
        await until(lambda: alone.host.is_active)
        await zookeeper.delete(CONTROLLER)
        await until(lambda: len(alone.controllers) == 2 and alone.host.is_active)
        await until(lambda: alone.controllers[0].kinds()[-1] == "Resignation")


async def test_a_core_that_fails_costs_the_term_and_not_the_node(
    server: ZooKeeperServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_AFTER_FAILURE", 0.05)

    async with client(server.connect) as zookeeper:
        failures = iter([ValueError("a znode that cannot be read")])

        def fail_once(event: events.Event) -> Steps[None]:
            yield [Create("/attempt"), SetData("/attempt", b"")]
            for failure in failures:
                raise failure

        async with candidate(zookeeper, 4, fail_once) as alone:
            await until(lambda: len(alone.controllers) == 2 and alone.host.is_active)
            assert alone.controllers[0].kinds() == ["Election", "Resignation"]


@pytest.mark.requirement("INT-29")
async def test_a_broker_that_is_not_the_controller_says_so_in_the_form_of_each_request(server: ZooKeeperServer) -> None:
    async with (
        client(server.connect) as first,
        client(server.connect) as second,
        candidate(first, 4) as a,
        candidate(second, 5) as b,
    ):
        await until(lambda: a.host.is_active or b.host.is_active)
        idle = b if a.host.is_active else a
        topic = m.CreateTopicsRequest.CreatableTopic(name="t")
        refusals = [
            (await idle.ask(m.ControlledShutdownRequest(), 3)).error_code,
            (await idle.ask(m.MetadataHeartbeatRequest())).error_code,
            (await idle.ask(m.IsrChangeRequest())).top_level_error_code,
            (await idle.ask(m.ReplicaStateEventRequest())).error_code,
            (await idle.ask(m.CreateTopicsRequest(topics=[topic]), 7)).topics[0].error_code,
            (await idle.ask(m.DeleteTopicsRequest(topic_names=["t"]), 5)).responses[0].error_code,
            (await idle.ask(_delete_by_name("t"), 6)).responses[0].error_code,
        ]
        assert refusals == [Error.NOT_CONTROLLER] * 7
        assert set(idle.host.handlers) == CONTROLLER_REQUESTS


def _delete_by_name(name: str) -> m.DeleteTopicsRequest:
    return m.DeleteTopicsRequest(topics=[m.DeleteTopicsRequest.DeleteTopicState(name=name)])


async def test_the_core_answers_what_it_is_asked_and_the_end_of_the_term_answers_the_rest(
    server: ZooKeeperServer,
) -> None:
    async with client(server.connect) as zookeeper:
        never = asyncio.Event()

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.ReceivedRequest):
                if never.is_set():
                    while True:
                        yield [SetData("/", b"")]
                event.reply(m.ControlledShutdownResponse(error_code=0))
            yield from ()

        async with candidate(zookeeper, 4, steps) as alone:
            await until(lambda: alone.host.is_active)
            assert (await alone.ask(m.ControlledShutdownRequest(broker_id=5), 3)).error_code == 0
            never.set()
            blocking = asyncio.create_task(alone.ask(m.ControlledShutdownRequest(), 3))
            await until(lambda: alone.controllers[0].kinds().count("ReceivedRequest") == 2)
            waiting = asyncio.create_task(alone.ask(m.ControlledShutdownRequest(), 3))
            await until(lambda: len(alone.server.waiting) == 2)
            await alone.host.stop()
            assert (await waiting).error_code == Error.NOT_CONTROLLER
            blocking.cancel()


async def test_an_isr_change_that_was_overtaken_on_a_newer_connection_is_not_looked_at(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:

        def steps(event: events.Event) -> Steps[None]:
            if isinstance(event, events.ReceivedRequest):
                event.reply(m.IsrChangeResponse())
            yield from ()

        async with candidate(zookeeper, 4, steps) as alone:
            await until(lambda: alone.host.is_active)
            older: Connection = await connect("127.0.0.1", alone.port, 30)
            request = m.IsrChangeRequest(broker_id=5, incarnation_id=7)
            await older.request(request, 0, timeout=30)
            await alone.ask(request)
            with pytest.raises(ConnectionError):
                await older.request(request, 0, timeout=30)
            assert alone.controllers[0].kinds().count("ReceivedRequest") == 2
