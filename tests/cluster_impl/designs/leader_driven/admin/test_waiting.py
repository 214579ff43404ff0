"""Commands on a real ZooKeeper: their watches go with the znodes that they wait for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from fencepost.cluster_impl.coordination.errors import SessionExpired
from fencepost.cluster_impl.coordination.steps import Create, Created, Delete, run
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.brokers import add_broker, remove_broker
from fencepost.cluster_impl.designs.leader_driven.admin.lock import locked
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Command, carry_out
from fencepost.cluster_impl.designs.leader_driven.admin.reading import stat_of
from fencepost.cluster_impl.designs.leader_driven.admin.zookeeper_executor import ZooKeeperExecutor
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from tests.cluster_impl.coordination.clients import client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer, zookeeper
from tests.waiting import until

pytestmark = pytest.mark.integration

COUNT = 500


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    with zookeeper(tmp_path_factory.mktemp("admin-waiting")) as server:
        yield server


async def test_hundreds_of_znodes_are_waited_for_and_no_watch_is_left(server: ZooKeeperServer) -> None:
    async with client(server.connect) as mine, client(server.connect) as theirs:
        executor, others = ZooKeeperExecutor(mine), ZooKeeperExecutor(theirs)
        await executor.run(run([Create("/many"), *(Create(f"/many/{at}") for at in range(COUNT))]))
        paths = [f"/many/{at}" for at in range(COUNT)]
        waiting = asyncio.create_task(executor.gone([*paths, "/never/there"], 30))
        await until(lambda: server.watches() == COUNT)
        await others.run(run([Delete(path) for path in paths[1:]]))
        assert not waiting.done()
        await others.run(run([Delete(paths[0])]))
        await waiting
        assert server.watches() == 0


async def test_a_wait_ends_when_its_time_is_over(server: ZooKeeperServer) -> None:
    async with client(server.connect) as mine:
        executor = ZooKeeperExecutor(mine)
        await executor.run(run([Create("/stays")]))
        before = time.monotonic()
        await executor.gone(["/stays"], 0.1)
        assert 0.09 < time.monotonic() - before < 5  # a loop's timer may come a millisecond early
        await executor.gone(["/stays"], -1)


async def test_a_command_ends_with_the_session_that_it_began_in(server: ZooKeeperServer) -> None:
    async with (
        Relay(server.address, CLIENT_PORT) as relay,
        client(server.connect) as other,
        client(relay.connect, session_timeout=0.5) as mine,
    ):
        executor = ZooKeeperExecutor(mine)
        await executor.run(run([Create("/held"), Create("/mine", ephemeral=True)]))
        waiting = asyncio.create_task(executor.gone(["/held"], 30))
        await until(lambda: mine.watches > 0)
        gone: list[object] = []
        await other.exists("/mine", gone.append)
        relay.cut()
        await until(lambda: bool(gone))
        relay.heal()
        with pytest.raises(SessionExpired):
            await waiting


@pytest.mark.requirement("LD-39")
async def test_many_requests_are_put_in_their_order_in_few_round_trips(server: ZooKeeperServer) -> None:
    async with client(server.connect) as mine:
        executor = ZooKeeperExecutor(mine)
        await executor.run(run([Create("/queue")]))
        outcomes = await executor.run(run([Create("/queue/request-", b"", sequence=True) for _ in range(COUNT)]))
        paths = [outcome.path for outcome in outcomes if isinstance(outcome, Created)]
        assert paths == [f"/queue/request-{number:010}" for number in range(COUNT)]
        stat = await executor.run(stat_of("/queue"))
        assert stat is not None
        assert stat.children == COUNT


@pytest.mark.requirement("DLD-18", "DLD-31")
async def test_locks_and_claims_go_with_the_process_that_held_them(server: ZooKeeperServer) -> None:
    command = Command(StateChangeMonitor(4), time.monotonic, timeout_s=20)
    async with client(server.connect) as mine:
        executor = ZooKeeperExecutor(mine)
        assert await executor.run(add_broker(7)) is True
        async with client(server.connect) as theirs:
            lock = Create(znodes.admin_lock("t"), ephemeral=True)
            await ZooKeeperExecutor(theirs).run(run([lock, Create(znodes.claim(7), b"{}", ephemeral=True)]))
            with pytest.raises(RequestError, match="Broker 7 is running"):
                await executor.run(remove_broker(7))
            work = carry_out(locked(command, "t", stat_of(znodes.state(7))), executor, time.monotonic)
            waiting = asyncio.create_task(work)
            await until(lambda: mine.watches > 0)
            assert not waiting.done()
        found = await waiting
        assert found is not None
        assert await executor.run(remove_broker(7)) == 0
        assert await executor.run(stat_of(znodes.admin_lock("t"))) is None
