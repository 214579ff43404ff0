"""A term without a ZooKeeper: whose word gives it authority, and how it waits after the process stood still."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from fencepost.cluster_impl.coordination import znodes as zk
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.coordination.zookeeper import StateListener, ZooKeeper
from fencepost.cluster_impl.designs.zk_controller.controller import events
from fencepost.cluster_impl.designs.zk_controller.controller.controller import Controller
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.channels import Channels
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.elector import WonElection
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.host import ControllerHost
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.term import CATCH_UP, LATE, ControllerTerm
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.controller.scripted_controller import ScriptedController
from tests.cluster_impl.designs.zk_controller.controller.test_channels import connect


class Server:
    """A ZooKeeper that answers everything, by its leader or, as `follower_only`, from what a follower has."""

    def __init__(self, *, follower_only: bool = False) -> None:
        self.state = SessionState.CONNECTED
        self.session_id = 1
        self.session_timeout = 1.0
        self.confirmed_at = self.synced_at = time.monotonic()
        self.listeners: list[StateListener] = []
        self.confirmations = 0
        self._follower_only = follower_only

    async def exists(self, path: str) -> None:
        self.confirmed_at = time.monotonic()

    async def confirm(self) -> None:
        self.confirmations += 1
        if self._follower_only:
            await asyncio.Event().wait()
        self.synced_at = self.confirmed_at = time.monotonic()

    async def until_connected(self) -> None:
        return None

    def forget(self, watch: object) -> None:
        return None


def term(controller: ScriptedController, server: Server) -> ControllerTerm:
    zookeeper = cast("ZooKeeper", server)
    return ControllerTerm(
        cast("Controller", controller),
        WonElection(1, 1),
        zookeeper,
        lambda answered: Channels(connect, "INTERNAL", 1.0, answered),
    )


def during(running: ControllerTerm, scenario: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        task = asyncio.create_task(running.run())
        async with asyncio.timeout(20):
            await asyncio.sleep(0.01)
            await scenario()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())


def heartbeat_answer(running: ControllerTerm) -> int:
    replies: list[Message] = []
    running.ask(events.ReceivedRequest(m.MetadataHeartbeatRequest(), 0, replies.append, time.monotonic()))
    [reply] = replies
    assert isinstance(reply, m.MetadataHeartbeatResponse)
    return reply.error_code


@pytest.mark.requirement("D343-20")
def test_what_only_a_follower_of_zookeeper_says_gives_no_authority() -> None:
    """A minority side may hold one: it answers reads after its leader was lost."""
    server = Server()
    running = term(ScriptedController(), server)

    async def scenario() -> None:
        assert heartbeat_answer(running) == Error.NONE
        server.synced_at -= server.session_timeout
        server.confirmed_at = time.monotonic()
        assert heartbeat_answer(running) == Error.NOT_CONTROLLER

    during(running, scenario)


@pytest.mark.requirement("D343-20")
@pytest.mark.parametrize("follower_only", [False, True])
async def test_a_controller_has_its_session_confirmed_by_the_leader_of_the_servers(follower_only: bool) -> None:
    server = Server(follower_only=follower_only)
    host = ControllerHost(4, cast("ZooKeeper", server), ScriptedController, lambda _: None)  # type: ignore[arg-type, return-value]
    began = server.synced_at
    in_contact = asyncio.create_task(host._stay_in_contact())
    async with asyncio.timeout(20):
        while server.confirmations < (1 if follower_only else 3):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    in_contact.cancel()
    assert (server.synced_at == began) is follower_only


def test_a_suspended_process_waits_also_when_something_else_happens_meanwhile() -> None:
    """Else a controller that was paused takes its own silence for that of the brokers."""
    seen_at: list[float] = []

    def steps(event: events.Event) -> Steps[None]:
        if isinstance(event, events.Tick):
            seen_at.append(event.now)
            controller.tick_at = None
        yield from ()

    controller = ScriptedController(steps, tick_at=time.monotonic() + 0.1)
    running = term(controller, Server())

    async def scenario() -> None:
        time.sleep(0.1 + 2 * LATE)  # noqa: ASYNC251  # the whole process stands still
        woken = time.monotonic()
        for number in range(3):
            await asyncio.sleep(CATCH_UP / 10)
            running._znode_changed(changed(number))
        while not seen_at:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert controller.kinds() == ["Election", *["ZnodeChange"] * 3, "Tick"]
        assert seen_at[0] >= woken + CATCH_UP

    during(running, scenario)


def changed(number: int) -> zk.WatchEvent:
    return zk.WatchEvent(zk.WatchKind.CHANGED, f"/{number}")
