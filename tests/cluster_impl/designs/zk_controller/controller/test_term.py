"""A term without a ZooKeeper: whose word gives it authority, and how it waits after the process stood still."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from cluster_impl.coordination import znodes as zk
from cluster_impl.coordination.session_state import SessionState
from cluster_impl.coordination.steps import Steps
from cluster_impl.coordination.zookeeper import StateListener, ZooKeeper
from cluster_impl.designs.zk_controller.controller import driver, events
from cluster_impl.designs.zk_controller.controller.channels import Channels
from cluster_impl.designs.zk_controller.controller.driver import CATCH_UP, Term
from cluster_impl.designs.zk_controller.controller.elector import Elected
from cluster_impl.designs.zk_controller.controller.host import ControllerHost
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.zk_controller.controller.test_channels import connect
from tests.cluster_impl.designs.zk_controller.controller.toy_core import ToyCore


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


def term(core: ToyCore, server: Server) -> Term:
    zookeeper = cast("ZooKeeper", server)
    return Term(core, Elected(1, 1), zookeeper, lambda answered: Channels(connect, "INTERNAL", 1.0, answered))


def during(running: Term, story: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        task = asyncio.create_task(running.run())
        async with asyncio.timeout(10):
            await asyncio.sleep(0.01)
            await story()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())


def heartbeat_answer(running: Term) -> int:
    replies: list[Message] = []
    running.ask(events.Asked(m.MetadataHeartbeatRequest(), 0, replies.append, time.monotonic()))
    [reply] = replies
    assert isinstance(reply, m.MetadataHeartbeatResponse)
    return reply.error_code


@pytest.mark.requirement("D343-20")
def test_what_only_a_follower_of_zookeeper_says_gives_no_authority() -> None:
    """An island may hold one: it answers reads after its leader was lost."""
    server = Server()
    running = term(ToyCore(), server)

    async def story() -> None:
        assert heartbeat_answer(running) == Error.NONE
        server.synced_at -= server.session_timeout
        server.confirmed_at = time.monotonic()
        assert heartbeat_answer(running) == Error.NOT_CONTROLLER

    during(running, story)


@pytest.mark.requirement("D343-20")
@pytest.mark.parametrize("follower_only", [False, True])
def test_a_controller_has_its_session_confirmed_by_the_leader_of_the_servers(follower_only: bool) -> None:
    async def main() -> None:
        server = Server(follower_only=follower_only)
        host = ControllerHost(4, cast("ZooKeeper", server), ToyCore, lambda _: None)  # type: ignore[arg-type, return-value]
        began = server.synced_at
        in_contact = asyncio.create_task(host._stay_in_contact())
        async with asyncio.timeout(10):
            while server.confirmations < (1 if follower_only else 3):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        in_contact.cancel()
        assert (server.synced_at == began) is follower_only

    asyncio.run(main())


def test_who_stood_still_waits_also_when_something_else_happens_meanwhile() -> None:
    """Else a controller that was paused takes its own silence for that of the brokers."""
    told_at: list[float] = []

    def steps(event: events.Event) -> Steps[None]:
        if isinstance(event, events.Tick):
            told_at.append(event.now)
            core.tick_at = None
        yield from ()

    core = ToyCore(steps, tick_at=time.monotonic() + 0.1)
    running = term(core, Server())

    async def story() -> None:
        time.sleep(0.1 + 2 * driver.LATE)  # noqa: ASYNC251  # the whole process stands still
        woken = time.monotonic()
        for number in range(3):
            await asyncio.sleep(CATCH_UP / 10)
            running._znode_changed(changed(number))
        while not told_at:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert core.kinds() == ["Elected", *["ZnodeChanged"] * 3, "Tick"]
        assert told_at[0] >= woken + CATCH_UP

    during(running, story)


def changed(number: int) -> zk.WatchEvent:
    return zk.WatchEvent(zk.WatchKind.CHANGED, f"/{number}")
