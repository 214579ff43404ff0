"""Steps without a guard: ephemeral znodes, and what is in doubt after a connection broke."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from fencepost.cluster_impl.coordination.errors import SessionExpired
from fencepost.cluster_impl.coordination.execution import Execution
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.steps import (
    Create,
    Created,
    Delete,
    Done,
    Found,
    Get,
    NodeExists,
    Operation,
    Outcome,
    SetData,
    Steps,
)
from tests.cluster_impl.coordination.clients import Client, client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer
from tests.waiting import until

pytestmark = pytest.mark.integration


def batch(*operations: Operation) -> Steps[Sequence[Outcome]]:
    outcomes = yield operations
    return outcomes


async def lose_answers(link: Relay, zookeeper: Client) -> None:
    """Break the connection under whatever is on its way, and let the session find another."""
    link.cut()
    await until(lambda: zookeeper.state is SessionState.SUSPENDED)
    link.heal()


async def test_an_ephemeral_znode_is_known_as_ones_own(server: ZooKeeperServer) -> None:
    async with client(server.connect) as one, client(server.connect) as other:
        await one.create("/own", b"")
        mine, theirs = Execution(one, lambda _: None), Execution(other, lambda _: None)
        [made] = await mine.run(batch(Create("/own/leader", b"x", ephemeral=True)))
        assert isinstance(made, Created) and made.path == "/own/leader" and made.stat.is_own
        [refused] = await theirs.run(batch(Create("/own/leader", b"y", ephemeral=True)))
        assert isinstance(refused, NodeExists)
        for execution, is_own in ((mine, True), (theirs, False)):
            [found] = await execution.run(batch(Get("/own/leader")))
            assert isinstance(found, Found) and found.stat.is_own is is_own


async def test_many_steps_read_in_few_requests(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        await zookeeper.create("/read", b"r")
        execution = Execution(zookeeper, lambda _: None)
        before = zookeeper.operations
        found = await asyncio.gather(*(execution.run(batch(Get("/read"), Get("/none"))) for _ in range(100)))
        assert all(isinstance(one, Found) and one.data == b"r" for one, _ in found)
        assert zookeeper.operations - before <= 4


@asynccontextmanager
async def beside_another(
    server: ZooKeeperServer, folder: str
) -> AsyncIterator[tuple[Relay, Client, Client, Execution]]:
    """A session whose link can be held up, one of another client, and the steps of the first, in a folder of theirs."""
    async with (
        Relay(server.address, CLIENT_PORT) as link,
        client(link.connect, 5.0) as zookeeper,
        client(server.connect) as other,
    ):
        await other.create(folder, b"")
        yield link, zookeeper, other, Execution(zookeeper, lambda _: None)


async def test_an_ephemeral_create_whose_answer_was_lost_is_found_to_be_done(server: ZooKeeperServer) -> None:
    async with beside_another(server, "/doubt") as (link, zookeeper, other, execution):
        link.stall_replies()
        creating = asyncio.create_task(execution.run(batch(Create("/doubt/leader", b"x", ephemeral=True))))
        while await other.exists("/doubt/leader") is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await lose_answers(link, zookeeper)
        [made] = await creating
        assert isinstance(made, Created) and made.stat.is_own


async def test_a_delete_in_doubt_does_not_hit_what_another_session_made_meanwhile(server: ZooKeeperServer) -> None:
    async with beside_another(server, "/given") as (link, zookeeper, other, execution):
        await execution.run(batch(Create("/given/leader", b"x", ephemeral=True), SetData("/given/leader", b"y", 0)))
        link.stall_replies()
        deleting = asyncio.create_task(execution.run(batch(Delete("/given/leader", 1))))
        while await other.exists("/given/leader") is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await other.create("/given/leader", b"theirs", ephemeral=True)
        await other.set("/given/leader", b"theirs", 0)
        await lose_answers(link, zookeeper)
        assert await deleting == [Done()]
        assert (await other.get("/given/leader")).data == b"theirs"


async def test_a_delete_in_doubt_does_not_hit_what_was_made_anew_meanwhile(server: ZooKeeperServer) -> None:
    async with beside_another(server, "/wanted") as (link, zookeeper, other, execution):
        await other.create("/wanted/0", b"first")
        [found] = await execution.run(batch(Get("/wanted/0")))
        assert isinstance(found, Found)
        link.stall_replies()
        deletion = Delete("/wanted/0", found.stat.version, found.stat.czxid)
        deleting = asyncio.create_task(execution.run(batch(deletion)))
        while await other.exists("/wanted/0") is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await other.create("/wanted/0", b"second")
        await lose_answers(link, zookeeper)
        assert await deleting == [Done()]
        assert (await other.get("/wanted/0")).data == b"second"


async def test_nothing_begun_in_one_session_is_done_in_the_next(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as link, client(link.connect, 0.5) as zookeeper:
        await zookeeper.create("/next", b"")
        execution = Execution(zookeeper, lambda _: None)
        link.stall()
        await until(lambda: not server.has_session(zookeeper.session_id))
        link.heal()
        await until(lambda: SessionState.EXPIRED in zookeeper.states)
        await zookeeper.until_connected()
        for operation in (Create("/next/a"), Get("/next")):
            with pytest.raises(SessionExpired):
                await execution.run(batch(operation))
        assert await zookeeper.children("/next") == []
