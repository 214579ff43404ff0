"""Steps on a real ZooKeeper: outcomes in order, every write guarded by the controller epoch, doubts resolved."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from fencepost.cluster_impl.coordination import znodes as zk
from fencepost.cluster_impl.coordination.errors import SessionExpired
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.steps import (
    Absent,
    BadVersion,
    Children,
    Create,
    Delete,
    Done,
    Exists,
    Found,
    Get,
    Names,
    NodeExists,
    NotEmpty,
    Operation,
    Outcome,
    Present,
    SetData,
    Steps,
)
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.zk_controller.controller.events import ControllerMoved
from fencepost.cluster_impl.designs.zk_controller.controller.runtime.term import GuardedExecution
from fencepost.cluster_impl.designs.zk_controller.znodes import CONTROLLER_EPOCH
from tests.cluster_impl.coordination.clients import Client, client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer
from tests.waiting import until

pytestmark = pytest.mark.integration


def batch(*operations: Operation) -> Steps[Sequence[Outcome]]:
    outcomes = yield operations
    return outcomes


async def epoch_version(zookeeper: ZooKeeper) -> int:
    """That of /controller_epoch, which is created if need be."""
    if await zookeeper.exists(CONTROLLER_EPOCH) is None:
        await zookeeper.create(CONTROLLER_EPOCH, b"0")
    return (await zookeeper.get(CONTROLLER_EPOCH)).stat.version


async def execution(zookeeper: ZooKeeper, watch: zk.Watch = lambda _: None) -> GuardedExecution:
    return GuardedExecution(zookeeper, await epoch_version(zookeeper), watch)


async def test_every_operation_has_its_outcome_in_its_place(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        await zookeeper.create("/each/child", b"c", make_parents=True)
        outcomes = await (await execution(zookeeper)).run(
            batch(
                Get("/each/child"),
                Get("/each/none"),
                Children("/each"),
                Children("/none"),
                Exists("/each"),
                Exists("/none"),
                Create("/each/child", b""),
                Create("/none/child", b""),
                SetData("/each/child", b"d", 0),
                SetData("/each/child", b"e", 0),
                SetData("/each/none", b"", 0),
                Delete("/each"),
                Delete("/each/child", 0),
                Delete("/each/none"),
                Create("/each/second", b""),
                Delete("/each/second", 0),
                Get("/each/child"),
            )
        )
        kinds = [type(outcome) for outcome in outcomes]
        assert kinds == [
            *(Found, Absent, Names, Absent, Present, Absent),
            *(NodeExists, Absent, Done, BadVersion, Absent, NotEmpty, BadVersion, Absent, Done, Done),
            Found,
        ]
        assert outcomes[8] == Done(1)
        last = outcomes[-1]
        assert isinstance(last, Found)
        assert (last.data, last.stat.version) == (b"d", 1)


@pytest.mark.requirement("DINT-04")
async def test_no_write_of_a_deposed_controller_comes_through(server: ZooKeeperServer) -> None:
    async with client(server.connect) as old, client(server.connect) as new:
        deposed = await execution(old)
        await new.create("/guarded", b"0")
        await new.set(CONTROLLER_EPOCH, b"9", await epoch_version(new))
        for write in (SetData("/guarded", b"1"), Create("/guarded/child"), Delete("/guarded")):
            with pytest.raises(ControllerMoved):
                await deposed.run(batch(write))
        assert await new.children("/guarded") == []
        assert (await new.get("/guarded")).data == b"0"
        [read] = await deposed.run(batch(Get("/guarded")))
        assert isinstance(read, Found)


@pytest.mark.requirement("DINT-04")
async def test_the_guard_falls_in_the_middle_of_many_writes(server: ZooKeeperServer) -> None:
    """All writes of a multi are made at one epoch; none is made at the next one."""

    async with client(server.connect) as old, client(server.connect) as new:
        count = 4000
        await new.create("/many", b"")
        for begin in range(0, count, 500):  # of too many at once the session's pings wait for the answers
            await asyncio.gather(*(new.create(f"/many/{at}", b"") for at in range(begin, begin + 500)))
        deposed = await execution(old)
        version = await epoch_version(new)
        writing = asyncio.create_task(deposed.run(batch(*(SetData(f"/many/{at}", b"old", 0) for at in range(count)))))
        while (await new.get("/many/500")).data != b"old":
            pass
        raised = await new.set(CONTROLLER_EPOCH, b"10", version)
        with pytest.raises(ControllerMoved):
            await writing
        found = await asyncio.gather(*(new.get(f"/many/{at}") for at in range(count)))
        written = [znode.stat.mzxid for znode in found if znode.data == b"old"]
        assert 500 < len(written) < count
        assert max(written) < raised.mzxid


async def test_refused_writes_among_many_leave_the_others_as_they_are(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        await zookeeper.create("/mixed", b"")
        await asyncio.gather(*(zookeeper.create(f"/mixed/{at}", b"") for at in range(500)))
        for at in (7, 100, 450):
            await zookeeper.set(f"/mixed/{at}", b"elsewhere", 0)
        outcomes = await (await execution(zookeeper)).run(
            batch(*(SetData(f"/mixed/{at}", b"here", 0) for at in range(500)))
        )
        assert [at for at, outcome in enumerate(outcomes) if outcome != Done(1)] == [7, 100, 450]
        assert {type(outcomes[at]) for at in (7, 100, 450)} == {BadVersion}


async def test_a_watch_that_steps_set_fires_once(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        await zookeeper.create("/watched", b"")
        fired: list[str] = []
        watching = await execution(zookeeper, lambda event: fired.append(event.path))
        reads = (Get("/watched", watch=True), Children("/watched", watch=True), Exists("/watched", watch=True))
        await watching.run(batch(*reads, Get("/watched")))
        await zookeeper.delete("/watched")
        await zookeeper.sync()
        assert fired == ["/watched"]


async def in_doubt(zookeeper: Client, relay: Relay) -> None:
    """Cut the connection again and again while the session goes on.

    Each life of it is longer than the one before, so that a slow machine gets some writes done too.
    """
    lives = 0.02
    while True:
        await zookeeper.until_connected()
        await asyncio.sleep(lives)
        lives *= 1.1
        relay.cut()
        await until(lambda: zookeeper.state is not SessionState.CONNECTED)
        relay.heal()


@pytest.mark.requirement("DINT-14")
async def test_writes_in_doubt_are_found_to_be_done_once(server: ZooKeeperServer) -> None:
    """The link breaks all the time: every write is done exactly once in the end, and said to be."""

    async with (
        Relay(server.address, CLIENT_PORT) as relay,
        client(server.connect) as other,
        client(relay.connect, session_timeout=20) as zookeeper,
    ):
        await other.create("/doubtful", b"")
        steps = await execution(zookeeper)
        breaking = asyncio.create_task(in_doubt(zookeeper, relay))
        created = await steps.run(batch(*(Create(f"/doubtful/{at}", b"new") for at in range(1000))))
        wrote: list[Sequence[Outcome]] = []
        while len(wrote) < 2 or zookeeper.states.count(SessionState.SUSPENDED) <= 5:
            version = len(wrote)
            writes = (SetData(f"/doubtful/{at}", f"{version}".encode(), version) for at in range(1000))
            wrote.append(await steps.run(batch(*writes)))
        deleted = await steps.run(batch(*(Delete(f"/doubtful/{at}") for at in range(500))))
        breaking.cancel()
        assert set(created) == {Done(0)}
        assert [set(outcomes) for outcomes in wrote] == [{Done(version + 1)} for version in range(len(wrote))]
        assert set(deleted) == {Done(0)}
        assert len(await other.children("/doubtful")) == 500


@pytest.mark.requirement("INT-62")
async def test_steps_end_with_the_session_that_they_began_in(server: ZooKeeperServer) -> None:
    async def test() -> None:
        async with (
            Relay(server.address, CLIENT_PORT) as relay,
            client(server.connect) as other,
            client(relay.connect, session_timeout=0.5) as zookeeper,
        ):
            await zookeeper.create("/session", b"", ephemeral=True)
            closed = False

            def steps() -> Steps[None]:
                nonlocal closed
                try:
                    while True:
                        yield [Create("/left-over"), Delete("/left-over")]
                finally:
                    closed = True

            writing = asyncio.create_task((await execution(zookeeper)).run(steps()))
            gone: list[zk.WatchEvent] = []
            await other.exists("/session", gone.append)
            relay.cut()
            await until(lambda: bool(gone))
            relay.heal()
            with pytest.raises(SessionExpired):
                await writing
            assert closed

    await test()


async def test_ten_thousand_guarded_writes_take_few_seconds(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zookeeper:
        steps = await execution(zookeeper)
        await zookeeper.create("/speed", b"")
        timed = {}
        phases: dict[str, list[Operation]] = {
            "create": [Create(f"/speed/{at}", b"x" * 100) for at in range(10_000)],
            "set": [SetData(f"/speed/{at}", b"y" * 100, 0) for at in range(10_000)],
            "refused": [SetData(f"/speed/{at}", b"y" * 100, 0) for at in range(10_000)],
            "get": [Get(f"/speed/{at}") for at in range(10_000)],
        }
        for name, operations in phases.items():
            started = time.monotonic()
            outcomes = await steps.run(batch(*operations))
            timed[name] = time.monotonic() - started
            assert len({type(outcome) for outcome in outcomes}) == 1
        print({name: f"{seconds:.2f} s" for name, seconds in timed.items()})
        assert timed["create"] + timed["set"] < 20  # a tenth of that where the machine is not busy
