"""The client's side of a connection: every way it can fail is a message."""

from __future__ import annotations

import asyncio
import re
import struct

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import KAFKA
from fencepost.cluster_impl.wire.server import Request, Server


async def connect(port: int, host: str = "node-1", timeout: float = 30) -> Connection:
    hosts = Hosts({"node-1": "127.0.0.1"})
    return await Connection.open(host, port, KAFKA, "tester", hosts=hosts, timeout=timeout)


async def raw_server(answer: bytes) -> tuple[asyncio.Server, int]:
    """Answers every chunk it reads with the same bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    return server, port


async def test_a_late_answer_is_a_timeout_and_the_connection_stays_usable() -> None:
    gate: asyncio.Future[m.HeartbeatResponse] = asyncio.get_running_loop().create_future()

    def handler(request: Request) -> asyncio.Future[m.HeartbeatResponse] | m.HeartbeatResponse:
        assert isinstance(request.body, m.HeartbeatRequest)
        return m.HeartbeatResponse(error_code=25) if request.body.generation_id else gate

    server = Server(KAFKA, {12: handler})
    port = await server.listen("127.0.0.1", 0, "TEST")
    client = await connect(port)
    message = f"node-1 (127.0.0.1:{port}) did not answer Heartbeat v3 within 0.01 s"
    with pytest.raises(TimeoutError, match=f"^{re.escape(message)}$"):
        await client.request(m.HeartbeatRequest(), 3, timeout=0.01)
    gate.set_result(m.HeartbeatResponse())
    assert (await client.request(m.HeartbeatRequest(generation_id=1), 3, timeout=30)).error_code == 25
    await server.close()


async def test_a_port_without_listener_is_a_message() -> None:
    server, port = await raw_server(b"")
    server.close()
    await server.wait_closed()
    message = f"cannot connect to node-1 (127.0.0.1:{port}): Connection refused"
    with pytest.raises(ConnectionError, match=f"^{re.escape(message)}$"):
        await connect(port)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (struct.pack(">ii", 4, 77), "a response with correlation id 77 was not expected"),
        (struct.pack(">i", -1), "a frame claims -1 bytes"),
        (struct.pack(">ih", 2, 0), "response header: 2 bytes are too few"),
        (struct.pack(">iih", 6, 0, 0), "HeartbeatResponse v3 at ThrottleTimeMs: the message ends too early"),
    ],
    ids=["wrong correlation id", "bad length", "no header", "cut body"],
)
async def test_a_bad_response_ends_the_connection_and_all_that_wait_get_the_reason(answer: bytes, reason: str) -> None:
    server, port = await raw_server(answer)
    client = await connect(port)
    asking = [client.request(m.HeartbeatRequest(), 3, timeout=30) for _ in range(3)]
    for result in await asyncio.gather(*asking, return_exceptions=True):
        assert isinstance(result, ConnectionError)
        assert reason in str(result)
    assert client.closed
    with pytest.raises(ConnectionError, match="cannot send Heartbeat"):
        await client.request(m.HeartbeatRequest(), 3, timeout=30)
    server.close()


async def test_closing_it_ends_pending_requests() -> None:
    server, port = await raw_server(b"")
    client = await connect(port)
    asking = asyncio.create_task(client.request(m.HeartbeatRequest(), 3, timeout=30))
    await asyncio.sleep(0)
    client.close()
    with pytest.raises(ConnectionError, match="did not answer Heartbeat v3: it was closed on this side"):
        await asking
    server.close()


async def test_records_in_a_response_are_views_of_the_received_frame() -> None:
    partition = m.FetchResponse.PartitionData(records=b"r" * 3_000_000)
    response = m.FetchResponse(responses=[m.FetchResponse.FetchableTopicResponse(partitions=[partition])])
    server = Server(KAFKA, {1: lambda request: response})
    port = await server.listen("127.0.0.1", 0, "TEST")
    client = await connect(port)
    received = await client.request(m.FetchRequest(), 17, timeout=30)
    records = received.responses[0].partitions[0].records
    assert isinstance(records, memoryview)
    assert records == partition.records
    assert isinstance(records.obj, bytearray)
    await server.close()
