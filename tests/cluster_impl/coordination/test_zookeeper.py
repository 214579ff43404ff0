"""Operations, watches and sessions against a real ZooKeeper."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest

from fencepost.cluster_impl.coordination.errors import (
    BadVersionError,
    ConnectionLost,
    CoordinationError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    SessionExpired,
    TooLarge,
)
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.znodes import Check, Create, Delete, SetData, WatchEvent, WatchKind
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.wire.hosts import Hosts
from tests.cluster_impl.coordination.clients import client
from tests.cluster_impl.coordination.relay import Relay
from tests.cluster_impl.zookeeper import CLIENT_PORT, ZooKeeperServer
from tests.waiting import until

pytestmark = pytest.mark.integration


async def refused(operation: object) -> CoordinationError:
    try:
        await operation  # type: ignore[misc]
    except CoordinationError as error:
        return error
    raise AssertionError("it was not refused")


async def test_each_refusal_has_its_own_error(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zk:
        await zk.create("/refusals/child", b"", make_parents=True)
        errors = [
            await refused(operation)
            for operation in (
                zk.get("/refusals/none"),
                zk.create("/refusals/none/child", b""),
                zk.create("/refusals/child", b""),
                zk.set("/refusals/child", b"", 1),
                zk.delete("/refusals/child", 1),
                zk.delete("/refusals"),
            )
        ]
        assert [type(error) for error in errors] == [
            NoNodeError,
            NoNodeError,
            NodeExistsError,
            BadVersionError,
            BadVersionError,
            NotEmptyError,
        ]
        assert str(errors[2]) == "/refusals/child exists already"
        assert await zk.exists("/refusals/none") is None


async def test_what_was_created_is_known_by_its_transaction(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zk:
        first = await zk.create("/created", b"1", ephemeral=True)
        await zk.delete("/created")
        second = await zk.create("/created", b"2", ephemeral=True)
        assert second.stat.czxid > first.stat.czxid
        found = await zk.get("/created")
        assert (found.data, found.stat) == (b"2", second.stat)
        assert found.stat.ephemeral_owner == zk.session_id
        numbered = [await zk.create("/created-", b"", sequence=True) for _ in range(2)]
        assert numbered[0].path < numbered[1].path


async def test_a_multi_happens_as_a_whole_or_names_what_failed(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zk:
        await zk.create("/multi", b"0")
        results = await zk.multi(
            [Check("/multi", 0), SetData("/multi", b"1", 0), Create("/multi/a", b""), Delete("/multi/a")]
        )
        assert results[0] is None
        assert results[2:] == ["/multi/a", None]
        error = await refused(zk.multi([Create("/multi/b", b""), Check("/multi", 0), SetData("/multi", b"2", 1)]))
        assert (type(error), error.path, error.index) == (BadVersionError, "/multi", 1)
        assert await zk.children("/multi") == []
        assert (await zk.get("/multi")).data == b"1"


async def test_many_znodes_are_read_in_one_request(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zk:
        await zk.create("/read", b"", make_parents=True)
        for at in range(0, 300, 2):
            await zk.create(f"/read/{at}", str(at).encode())
        found = await zk.get_many([f"/read/{at}" for at in range(300)])
        assert [znode.data if znode is not None else None for znode in found] == [
            str(at).encode() if at % 2 == 0 else None for at in range(300)
        ]
        assert found[2] == await zk.get("/read/2")
    async with client(f"{server.connect}/read") as below:
        [only] = await below.get_many(["/2"])
        assert only is not None
        assert only.data == b"2"


async def test_operations_are_pipelined_and_answered_in_their_order(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zk:
        await zk.create("/order", b"")
        stats = await asyncio.gather(*(zk.set("/order", str(at).encode(), at) for at in range(1000)))
        assert [stat.version for stat in stats] == list(range(1, 1001))


async def test_an_operation_that_kazoo_refuses_to_encode_leaves_the_session_usable(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zk:
        with pytest.raises(TypeError):
            await zk.create("/unencodable", "text")  # type: ignore[arg-type]
        assert await zk.exists("/unencodable") is None


async def test_what_a_server_would_not_read_is_refused_on_this_side(server: ZooKeeperServer) -> None:
    async with client(server.connect) as zk:
        await zk.create("/large", b"")
        for operation in (
            zk.set("/large", b"x" * 1_000_001, -1),
            zk.create("/larger", b"x" * 1_000_001),
            zk.multi([SetData("/large", b"x" * 600_000, -1), Create("/larger", b"x" * 600_000)]),
        ):
            assert isinstance(await refused(operation), TooLarge)
        await zk.set("/large", b"x" * 1_000_000, -1)
        assert zk.states == [SessionState.CONNECTED]


@pytest.mark.requirement("DINT-15")
async def test_no_change_is_missed_between_a_read_and_its_watch(server: ZooKeeperServer) -> None:
    """A reader that reads again whenever its watch fires ends with the last value, whatever happens to its link."""

    async def test() -> None:
        async with (
            Relay(server.address, CLIENT_PORT) as relay,
            client(server.connect) as writer,
            client(relay.connect) as zk,
        ):
            await writer.create("/churn", b"")
            await writer.create("/churn/value", b"0")
            value, names, reads = b"", set[str](), 0
            again = asyncio.Event()

            async def follow() -> None:
                nonlocal value, names, reads
                while True:
                    again.clear()
                    try:
                        value = (await zk.get("/churn/value", lambda _: again.set())).data
                        names = set(await zk.children("/churn", lambda _: again.set()))
                    except ConnectionLost:
                        await zk.until_connected()
                        continue
                    reads += 1
                    await again.wait()

            following = asyncio.create_task(follow())
            for number in range(1, 1001):
                await writer.set("/churn/value", str(number).encode(), -1)
                await writer.create(f"/churn/{number}", b"")
                if number % 100 == 50:
                    await zk.until_connected()
                    relay.cut()
                    await until(lambda: zk.state is SessionState.SUSPENDED)
                elif number % 100 == 75:
                    relay.heal()
            await until(lambda: value == b"1000" and len(names) == 1001)
            assert reads > 10
            assert SessionState.EXPIRED not in zk.states
            assert zk.states.count(SessionState.SUSPENDED) >= 10
            following.cancel()

    await test()


@pytest.mark.requirement("DINT-15")
async def test_what_changed_while_the_connection_was_gone_is_reported_after_it(server: ZooKeeperServer) -> None:
    async with (
        Relay(server.address, CLIENT_PORT) as relay,
        client(server.connect) as writer,
        client(relay.connect) as zk,
    ):
        for name in ("changed", "deleted", "same", "parent", "quiet"):
            await writer.create(f"/gone/{name}", b"", make_parents=True)
        events: list[WatchEvent] = []
        for name in ("changed", "deleted", "same"):
            await zk.get(f"/gone/{name}", events.append)
        await zk.exists("/gone/created", events.append)
        await zk.exists("/gone/never", events.append)
        await zk.children("/gone/parent", events.append)
        await zk.children("/gone/quiet", events.append)
        relay.cut()
        await until(lambda: zk.state is SessionState.SUSPENDED)
        await writer.set("/gone/changed", b"1", 0)
        await writer.delete("/gone/deleted")
        await writer.create("/gone/created", b"")
        await writer.create("/gone/parent/child", b"")
        relay.heal()
        await until(lambda: len(events) == 4)
        assert {event.path.rpartition("/")[2]: event.kind for event in events} == {
            "changed": WatchKind.CHANGED,
            "deleted": WatchKind.DELETED,
            "created": WatchKind.CREATED,
            "parent": WatchKind.CHILDREN,
        }
        assert zk.watches == 3
        await writer.set("/gone/same", b"1", 0)
        await writer.create("/gone/never", b"")
        await writer.create("/gone/quiet/child", b"")
        await until(lambda: len(events) == 7)


@pytest.mark.requirement("DINT-14")
async def test_an_expired_session_is_reported_to_all_and_followed_by_another(server: ZooKeeperServer) -> None:
    async with (
        Relay(server.address, CLIENT_PORT) as relay,
        client(server.connect) as other,
        client(relay.connect, session_timeout=0.5) as zk,
    ):
        first = zk.session_id
        await zk.create("/ephemeral", b"", ephemeral=True)
        events: list[WatchEvent] = []
        gone: list[WatchEvent] = []
        await zk.exists("/ephemeral", events.append)
        await other.exists("/ephemeral", gone.append)
        relay.cut()
        await until(lambda: bool(gone))
        assert zk.states == [SessionState.CONNECTED, SessionState.SUSPENDED]
        relay.heal()
        await until(lambda: len(zk.states) == 4)
        assert zk.states[2:] == [SessionState.EXPIRED, SessionState.CONNECTED]
        assert events == [WatchEvent(WatchKind.EXPIRED, "/ephemeral")]
        assert zk.session_id != first
        created = await zk.create("/ephemeral", b"", ephemeral=True)
        assert created.stat.ephemeral_owner == zk.session_id
        assert zk.watches == 0
        await until(lambda: [thread.name for thread in threading.enumerate()].count("zookeeper") == 2)


async def test_a_listener_that_fails_keeps_no_other_from_being_called(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect) as zk:

        def fail(_: object) -> None:
            raise ValueError("a listener that fails")

        events: list[WatchEvent] = []
        zk.listeners.insert(0, fail)
        await zk.exists("/dark", fail)
        await zk.exists("/dark", events.append)
        relay.cut()
        await until(lambda: zk.state is SessionState.SUSPENDED)
        relay.heal()
        await zk.until_connected()
        await zk.create("/dark", b"")
        await until(lambda: bool(events))
        assert zk.states[-2:] == [SessionState.SUSPENDED, SessionState.CONNECTED]


@pytest.mark.requirement("DINT-14")
async def test_a_session_that_comes_back_in_time_keeps_its_ephemeral_znodes(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect) as zk:
        first = zk.session_id
        created = await zk.create("/kept", b"", ephemeral=True)
        relay.cut()
        await until(lambda: zk.state is SessionState.SUSPENDED)
        relay.heal()
        await zk.until_connected()
        assert zk.session_id == first
        assert await zk.exists("/kept") == created.stat


@pytest.mark.requirement("DINT-14")
async def test_while_it_is_suspended_nothing_is_sent_and_what_was_sent_is_in_doubt(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect) as zk:
        await zk.create("/doubt", b"", ephemeral=True)
        relay.stall()
        writes = [asyncio.ensure_future(zk.set("/doubt", b"", -1)) for _ in range(300)]
        reads = asyncio.create_task(zk.until_connected())
        await reads
        relay.cut()
        errors = await asyncio.gather(*writes, return_exceptions=True)
        assert all(isinstance(error, ConnectionLost) for error in errors)
        in_doubt = [isinstance(error, ConnectionLost) and error.in_doubt for error in errors]
        assert in_doubt == sorted(in_doubt, reverse=True)
        assert any(in_doubt)
        assert not in_doubt[-1]
        await until(lambda: zk.state is SessionState.SUSPENDED)
        error = await refused(zk.get("/doubt"))
        assert isinstance(error, ConnectionLost)
        assert not error.in_doubt


@pytest.mark.requirement("DINT-14")
async def test_an_operation_meant_for_one_session_is_never_sent_in_the_next(server: ZooKeeperServer) -> None:
    async with (
        Relay(server.address, CLIENT_PORT) as relay,
        client(server.connect) as other,
        client(relay.connect, session_timeout=0.5) as zk,
    ):
        await zk.create("/end-of-session", b"", ephemeral=True)
        over: list[WatchEvent] = []
        await other.exists("/end-of-session", over.append)
        relay.stall()
        writes = [asyncio.ensure_future(zk.create(f"/next-{at}", b"", ephemeral=True)) for at in range(300)]
        errors = await asyncio.gather(*writes, return_exceptions=True)
        assert all(isinstance(error, (ConnectionLost, SessionExpired)) for error in errors)
        await until(lambda: bool(over))
        relay.heal()
        await until(lambda: SessionState.EXPIRED in zk.states)
        await zk.until_connected()
        assert [name for name in await zk.children("/") if name.startswith("next-")] == []


@pytest.mark.requirement("DINT-14")
async def test_an_operation_that_misses_the_lost_connection_does_not_wait_for_the_next(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect) as zk:
        relay.stall()
        assert zk._session is not None
        kazoo = zk._session._client
        noticed = threading.Event()
        kazoo.add_listener(lambda _: noticed.set())
        kazoo._connection._socket.shutdown(socket.SHUT_RDWR)
        assert noticed.wait(
            5
        )  # the loop stands still meanwhile, as a busy one: kazoo knows of the loss, and the loop not
        async with asyncio.timeout(20):
            error = await refused(zk.exists("/late"))
        assert isinstance(error, ConnectionLost)
        assert error.in_doubt
        relay.heal()
        await zk.until_connected()
        assert await zk.exists("/late") is None


async def test_closing_takes_the_ephemeral_znodes_away_at_once(server: ZooKeeperServer) -> None:
    async with client(server.connect) as other:
        async with client(server.connect, session_timeout=60) as zk:
            await zk.create("/closed", b"", ephemeral=True)
        assert await other.exists("/closed") is None
        error = await refused(zk.get("/closed"))
        assert (type(error), str(error)) == (SessionExpired, "the session was closed")


async def test_closing_without_a_connection_takes_no_longer_than_its_bound(server: ZooKeeperServer) -> None:
    async with Relay(server.address, CLIENT_PORT) as relay, client(relay.connect, session_timeout=20) as zk:
        relay.stall()
        started = asyncio.get_running_loop().time()
        await zk.close()
        assert asyncio.get_running_loop().time() - started < 4


async def test_without_a_server_the_start_ends_with_a_message() -> None:
    zk = ZooKeeper("zk-1:2", 1.0, Hosts({"zk-1": "127.0.0.1"}))
    with pytest.raises(TimeoutError, match=r"^no ZooKeeper of zk-1:2 gave a session within 0.3 s$"):
        await zk.start(0.3)
    assert zk.state is SessionState.CLOSED
