from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.on_demand import OnDemandConnection
from fencepost.cluster_impl.wire.registry import KAFKA
from fencepost.cluster_impl.wire.server import Request, Server


class HeartbeatServer:
    """Answers Heartbeat with the number of the connection, or not at all while `silent`."""

    def __init__(self) -> None:
        self.silent = False
        self.server = Server(KAFKA, {m.HeartbeatRequest.API_KEY: self._answer})
        self.port = 0

    def _answer(self, request: Request) -> Message | asyncio.Future[Message | None]:
        if self.silent:
            return asyncio.get_running_loop().create_future()
        return m.HeartbeatResponse(error_code=request.connection.number)

    def opener(self, delay: float = 0.0) -> Callable[[], Awaitable[Connection]]:
        async def open_connection() -> Connection:
            await asyncio.sleep(delay)
            return await Connection.open("127.0.0.1", self.port, KAFKA, "tester", hosts=Hosts({}), timeout=10)

        return open_connection


@pytest.fixture
async def server() -> AsyncIterator[HeartbeatServer]:
    server = HeartbeatServer()
    server.port = await server.server.listen("127.0.0.1", 0, "TEST")
    yield server
    await server.server.close()


async def connection_number(on_demand: OnDemandConnection[str], server: HeartbeatServer, target: str = "a") -> int:
    response = await on_demand.request(target, server.opener(), m.HeartbeatRequest(), 3, 10)
    return response.error_code


async def test_requests_to_one_target_share_one_connection(server: HeartbeatServer) -> None:
    on_demand = OnDemandConnection[str]()
    numbers = await asyncio.gather(*(connection_number(on_demand, server) for _ in range(3)))
    assert numbers == [1, 1, 1]


async def test_another_target_gets_a_connection_of_its_own_and_the_former_one_is_closed(
    server: HeartbeatServer,
) -> None:
    on_demand = OnDemandConnection[str]()
    former = await on_demand.to("a", server.opener())
    assert await connection_number(on_demand, server, "b") == 2
    assert former.closed
    assert on_demand.target == "b"


async def test_a_connection_that_was_closed_is_opened_again(server: HeartbeatServer) -> None:
    on_demand = OnDemandConnection[str]()
    (await on_demand.to("a", server.opener())).close()
    assert await connection_number(on_demand, server) == 2
    on_demand.close()
    assert await connection_number(on_demand, server) == 3


async def test_a_request_that_fails_closes_the_connection(server: HeartbeatServer) -> None:
    on_demand = OnDemandConnection[str]()
    server.silent = True
    with pytest.raises(TimeoutError, match="did not answer Heartbeat"):
        await on_demand.request("a", server.opener(), m.HeartbeatRequest(), 3, 0.05)
    server.silent = False
    assert await connection_number(on_demand, server) == 2


async def test_the_timeout_of_a_request_includes_the_wait_for_a_slow_opener(server: HeartbeatServer) -> None:
    on_demand = OnDemandConnection[str]()
    slow = asyncio.create_task(on_demand.to("a", server.opener(delay=0.3)))
    await asyncio.sleep(0)
    with pytest.raises(TimeoutError, match=r"^a was not connected to within 0.05 s$"):
        await on_demand.request("a", server.opener(), m.HeartbeatRequest(), 3, 0.05)
    await slow
    assert await connection_number(on_demand, server) == 1


async def test_an_opener_that_fails_leaves_nothing_behind(server: HeartbeatServer) -> None:
    async def refuse() -> Connection:
        raise ConnectionError("no broker a is known")

    on_demand = OnDemandConnection[str]()
    with pytest.raises(ConnectionError, match=r"^no broker a is known$"):
        await on_demand.request("a", refuse, m.HeartbeatRequest(), 3, 10)
    assert await connection_number(on_demand, server) == 1


async def test_a_connection_to_another_target_than_the_wanted_one_is_closed_with_its_requests(
    server: HeartbeatServer,
) -> None:
    on_demand = OnDemandConnection[str]()
    server.silent = True
    pending = asyncio.create_task(on_demand.request("a", server.opener(), m.HeartbeatRequest(), 3, 10))
    await on_demand.to("a", server.opener())
    await asyncio.sleep(0)
    on_demand.close_unless("a")
    assert not pending.done()
    on_demand.close_unless("b")
    with pytest.raises(ConnectionError, match="it was closed on this side"):
        await pending
