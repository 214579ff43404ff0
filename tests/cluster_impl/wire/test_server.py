"""The server, over real sockets: order, back-pressure, and garbage that harms no other client."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import struct
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.framing import encode_request
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import (
    KAFKA,
    LEADER_DRIVEN_BROKER,
    QUORUM_BROKER,
    QUORUM_CLIENTS,
    QUORUM_CONTROLLER,
    ZK_BROKER,
    Registry,
)
from fencepost.cluster_impl.wire.server import CloseConnection, Handler, Request, Server
from tests.waiting import until

HEARTBEAT, METADATA, DELETE_TOPICS = 12, 3, 20
LOCALHOST = "127.0.0.1"


def echo_generation(request: Request) -> Message:
    """Heartbeat responses have one number to recognise them by."""
    assert isinstance(request.body, m.HeartbeatRequest)
    return m.HeartbeatResponse(throttle_time_ms=request.body.generation_id)


def fail(request: Request) -> Message:
    raise RuntimeError("deliberate")


@asynccontextmanager
async def serving(
    handlers: Mapping[int, Handler], registry: Registry = KAFKA, max_unacknowledged_bytes: int = 16 * 1024 * 1024
) -> AsyncIterator[tuple[Server, int]]:
    server = Server(registry, handlers, max_frame_bytes=1_000_000, max_unacknowledged_bytes=max_unacknowledged_bytes)
    port = await server.listen(LOCALHOST, 0, "TEST")
    try:
        yield server, port
    finally:
        await server.close()


async def connect(port: int, registry: Registry = KAFKA) -> Connection:
    return await Connection.open(LOCALHOST, port, registry, "tester", hosts=Hosts(), timeout=30)


def heartbeat(number: int) -> m.HeartbeatRequest:
    return m.HeartbeatRequest(group_id="g", generation_id=number, member_id="m")


async def assert_alive(connection: Connection) -> None:
    response = await connection.request(heartbeat(42), 3, timeout=30)
    assert response.throttle_time_ms == 42


def frame_of(message: Message, version: int, correlation_id: int = 1) -> bytes:
    return b"".join(encode_request(KAFKA[message.API_KEY], version, correlation_id, "raw", message))


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    """Return the bytes that the server sent before it closed the connection."""
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


async def test_responses_come_in_the_order_of_requests_though_answers_overtake() -> None:
    called: list[int] = []
    gates: dict[int, asyncio.Future[None]] = {}

    async def wait(number: int) -> Message:
        await gates[number]
        return m.HeartbeatResponse(throttle_time_ms=number)

    def handler(request: Request) -> object:
        number = request.body.generation_id  # type: ignore[attr-defined]
        called.append(number)
        if number % 2:
            return echo_generation(request)
        gates[number] = asyncio.get_running_loop().create_future()
        return wait(number)

    async with serving({HEARTBEAT: handler}) as (_, port):  # type: ignore[dict-item]
        client = await connect(port)
        finished: list[int] = []

        async def ask(number: int) -> None:
            response = await client.request(heartbeat(number), 3, timeout=30)
            assert response.throttle_time_ms == number
            finished.append(number)

        asking = [asyncio.create_task(ask(number)) for number in range(6)]
        await until(lambda: len(called) == 6)
        for number in (4, 2, 0):
            assert finished == []
            gates[number].set_result(None)
            await asyncio.sleep(0)
        await asyncio.gather(*asking)
        assert called == finished == list(range(6))


async def test_many_slow_requests_of_one_client_delay_no_other() -> None:
    """A broker whose disk is slow keeps its session, whatever a client has sent ahead."""

    async def test() -> None:
        handled: list[int] = []
        turns = 0

        def slow(request: Request) -> Message:
            assert isinstance(request.body, m.HeartbeatRequest)
            handled.append(request.body.generation_id)
            time.sleep(0.02)
            return echo_generation(request)

        async def count_turns() -> None:
            nonlocal turns
            while len(handled) < 9:
                await asyncio.sleep(0)
                turns += bool(handled)

        async with serving({HEARTBEAT: slow}) as (_, port):
            _, greedy = await asyncio.open_connection(LOCALHOST, port)
            other = await connect(port)
            greedy.write(b"".join(frame_of(heartbeat(number), 3) for number in range(8)))
            counting = asyncio.create_task(count_turns())
            await other.request(heartbeat(100), 3, timeout=30)
            await counting
            assert handled.index(100) < 8, "it was handled between those that came before it"
            assert [number for number in handled if number < 100] == list(range(8))
            assert turns > 5
            greedy.close()

    await test()


async def test_an_immediate_answer_takes_no_task_and_no_future() -> None:
    tasks: list[int] = []

    def handler(request: Request) -> Message:
        tasks.append(len(asyncio.all_tasks()))
        return echo_generation(request)

    async with serving({HEARTBEAT: handler}) as (server, port):
        client = await connect(port)
        before = len(asyncio.all_tasks())
        await asyncio.gather(*(client.request(heartbeat(number), 3, timeout=30) for number in range(10)))
        assert max(tasks) <= before + 10, "the ten tasks of the client, and none of the server"
        assert not server.waiting


async def test_none_sends_nothing_and_keeps_the_order() -> None:
    async def nothing_later() -> None:
        return None

    handlers: dict[int, Handler] = {
        HEARTBEAT: echo_generation,
        METADATA: lambda request: None,
        DELETE_TOPICS: lambda request: nothing_later(),
    }
    async with serving(handlers) as (_, port):
        client = await connect(port)
        for message, version in ((m.MetadataRequest(topics=None), 9), (m.DeleteTopicsRequest(), 6)):
            client._write(KAFKA[message.API_KEY], version, message)
        await assert_alive(client)


async def test_apiversions_tells_what_has_a_handler_and_the_drafts_only_where_they_live() -> None:
    async with serving({HEARTBEAT: echo_generation, 0: fail, 50: fail}) as (_, port):
        response = await (await connect(port)).request(m.ApiVersionsRequest(), 4, timeout=30)
        ranges = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}
        assert ranges == {HEARTBEAT: (0, 4), 18: (0, 4), 0: (0, 11)}
    async with serving({50: fail, HEARTBEAT: fail}, QUORUM_CONTROLLER) as (_, port):
        response = await (await connect(port, QUORUM_CONTROLLER)).request(m.ApiVersionsRequest(), 3, timeout=30)
        assert [api.api_key for api in response.api_keys] == [18, 50]


@pytest.mark.parametrize(("software", "error"), [("client-1.0", 0), ("", 42), ("-odd", 42), ("two words", 42)])
async def test_a_client_names_its_software(software: str, error: int) -> None:
    request = m.ApiVersionsRequest(client_software_name=software, client_software_version="1")
    async with serving({HEARTBEAT: echo_generation}) as (_, port):
        answer = await (await connect(port)).request(request, 3, timeout=30)
        assert answer.error_code == error
        assert (await (await connect(port)).request(m.ApiVersionsRequest(), 2, timeout=30)).error_code == 0


async def test_an_unknown_version_of_apiversions_gets_version_0_with_error_35_and_goes_on() -> None:
    async with serving({HEARTBEAT: echo_generation}) as (_, port):
        reader, writer = await asyncio.open_connection(LOCALHOST, port)
        payload = struct.pack(">hhi", 18, 99, 7) + b"whatever a later header holds"
        writer.write(struct.pack(">i", len(payload)) + payload + frame_of(heartbeat(5), 3, 8))
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        frame = await reader.readexactly(size)
        assert frame[:4] == struct.pack(">i", 7)
        response = m.ApiVersionsResponse.decode(frame[4:], 0)
        assert response.error_code == 35
        assert [api.api_key for api in response.api_keys] == [HEARTBEAT, 18]
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        assert m.HeartbeatResponse.decode((await reader.readexactly(size))[4:], 3).throttle_time_ms == 5
        writer.close()


@pytest.mark.parametrize("later", [False, True], ids=["at once", "later"])
async def test_a_handler_that_fails_costs_one_connection_and_one_log_line_with_traceback(
    caplog: pytest.LogCaptureFixture, later: bool
) -> None:
    async def fail_later(request: Request) -> Message:
        await asyncio.sleep(0)
        return fail(request)

    with caplog.at_level(logging.WARNING):
        handlers: dict[int, Handler] = {HEARTBEAT: echo_generation, METADATA: fail_later if later else fail}
        async with serving(handlers) as (_, port):
            good, bad = await connect(port), await connect(port)
            with pytest.raises(ConnectionError, match="did not answer Metadata v9: the other side closed"):
                await bad.request(m.MetadataRequest(topics=None), 9, timeout=30)
            await assert_alive(good)
    (record,) = caplog.records
    assert re.search(r"closed the connection from 127.0.0.1:\d+ on TEST: its Metadata v9 failed", record.getMessage())
    assert record.exc_info
    assert "deliberate" in str(record.exc_info[1])


@pytest.mark.parametrize("later", [False, True], ids=["at once", "later"])
async def test_a_handler_may_close_the_connection_with_a_reason(caplog: pytest.LogCaptureFixture, later: bool) -> None:
    def close(request: Request) -> Message:
        raise CloseConnection("it is fenced")

    async def close_later(request: Request) -> Message:
        return close(request)

    with caplog.at_level(logging.WARNING):
        async with serving({HEARTBEAT: close_later if later else close}) as (_, port):
            client = await connect(port)
            with pytest.raises(ConnectionError):
                await client.request(heartbeat(1), 3, timeout=30)
            assert client.closed
    (record,) = caplog.records
    assert record.getMessage().endswith("on TEST: it is fenced")
    assert not record.exc_info


async def test_a_response_that_its_version_cannot_carry_closes_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving({HEARTBEAT: lambda request: m.HeartbeatResponse(error_code=10**6)}) as (_, port):
            with pytest.raises(ConnectionError):
                await (await connect(port)).request(heartbeat(1), 3, timeout=30)
    (record,) = caplog.records
    assert record.exc_info
    assert "HeartbeatResponse v3 at" in str(record.exc_info[1])


def header(key: int, version: int, client_id: bytes = b"\xff\xff") -> bytes:
    return struct.pack(">hhi", key, version, 1) + client_id


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


GARBAGE = {
    "oversized": (struct.pack(">i", 1_000_001), "a frame claims 1000001 bytes, the limit is 1000000"),
    "negative length": (struct.pack(">i", -5), "a frame claims -5 bytes"),
    "empty frame": (framed(b""), "request header: 0 bytes are too few"),
    "unknown key": (framed(header(999, 0)), "API key 999 is not served here"),
    "draft key": (framed(header(50, 0)), "API key 50 is not served here"),
    "unknown version": (framed(header(HEARTBEAT, 5)), "Heartbeat is not served in version 5"),
    "negative version": (framed(header(HEARTBEAT, -1)), "Heartbeat is not served in version -1"),
    "advertised, not served": (framed(header(0, 1)), "Produce is not served in version 1"),
    "cut header": (framed(header(HEARTBEAT, 3)[:-1]), "request header: the frame ends too early"),
    "cut client id": (framed(header(HEARTBEAT, 3, b"\0\x09abc")), "request header: the client id claims 9 bytes"),
    "cut body": (framed(frame_of(heartbeat(1), 3)[4:-3]), "HeartbeatRequest v3 at"),
}


async def test_bytes_behind_a_request_are_passed_over_as_kafka_does() -> None:
    """These are what librdkafka 2.16 sends when it asks for all topics."""
    sent = bytes.fromhex("0003000c00000003000772646b61666b610000000000010000")
    asked: list[Message] = []

    def handler(request: Request) -> Message:
        asked.append(request.body)
        return m.MetadataResponse()

    async with serving({METADATA: handler}) as (_, port):
        reader, writer = await asyncio.open_connection(LOCALHOST, port)
        writer.write(framed(sent))
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        assert m.MetadataResponse.decode(await reader.readexactly(size), 12, 5) == m.MetadataResponse()
        writer.close()
    assert asked == [m.MetadataRequest(topics=None, allow_auto_topic_creation=False)]


NEWEST_KEY_OF_KAFKA = 92
"""The newest key of Kafka 4.3. Keys of later releases are unknown here, too."""


@pytest.mark.parametrize(
    "registry",
    [KAFKA, QUORUM_CLIENTS, QUORUM_BROKER, QUORUM_CONTROLLER, ZK_BROKER, LEADER_DRIVEN_BROKER],
    ids=["clients", "quorum clients", "quorum broker", "controller", "zk-controller", "leader-driven"],
)
async def test_a_request_that_is_not_served_ends_its_connection_at_once_as_in_kafka(registry: Registry) -> None:
    async with serving({}, registry) as (_, port):
        for key in sorted({*range(NEWEST_KEY_OF_KAFKA + 3), 1343, 1344, 1589} - set(registry)):
            reader, writer = await asyncio.open_connection(LOCALHOST, port)
            writer.write(framed(header(key, 0)))
            async with asyncio.timeout(30):
                assert await reader.read() == b"", f"an answer to API key {key}"
            writer.close()


@pytest.mark.parametrize(("data", "reason"), GARBAGE.values(), ids=GARBAGE.keys())
async def test_garbage_costs_one_connection_and_one_log_line(
    caplog: pytest.LogCaptureFixture, data: bytes, reason: str
) -> None:
    with caplog.at_level(logging.DEBUG, logger="fencepost.cluster_impl"):
        async with serving({HEARTBEAT: echo_generation, 0: fail}) as (server, port):
            good = await connect(port)
            reader, writer = await asyncio.open_connection(LOCALHOST, port)
            writer.write(frame_of(heartbeat(7), 3) + data + frame_of(heartbeat(8), 3))
            answered = await until_closed(reader)
            assert answered in (b"", framed(struct.pack(">i", 1) + m.HeartbeatResponse(throttle_time_ms=7).encode(3)))
            await assert_alive(good)
            assert len(server.connections) == 1
            writer.close()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert re.search(r"closed the connection from 127.0.0.1:\d+ on TEST: " + re.escape(reason), record.getMessage())


async def test_random_bytes_harm_no_other_client(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        random = Random(1)
        async with serving({HEARTBEAT: echo_generation, METADATA: fail}) as (server, port):
            good = await connect(port)
            for number in range(60):
                reader, writer = await asyncio.open_connection(LOCALHOST, port)
                body = random.randbytes(random.randint(1, 300))
                writer.write(body if number % 2 else framed(header(HEARTBEAT, random.randint(0, 4)) + body))
                writer.write_eof()
                await until_closed(reader)
                writer.close()
            await assert_alive(good)
            assert len(server.connections) == 1
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_client_that_leaves_in_the_middle_of_a_frame_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving({HEARTBEAT: echo_generation}) as (server, port):
            good = await connect(port)
            _, writer = await asyncio.open_connection(LOCALHOST, port)
            writer.write(struct.pack(">i", 500_000) + bytes(100_000))
            await writer.drain()
            writer.transport.abort()
            await until(lambda: len(server.connections) == 1)
            await assert_alive(good)
    assert not caplog.records


async def test_a_handler_goes_on_when_its_client_has_left() -> None:
    gate = asyncio.get_running_loop().create_future()
    done = asyncio.Event()
    called = asyncio.Event()

    async def handler(request: Request) -> Message:
        called.set()
        await gate
        done.set()
        return m.HeartbeatResponse()

    async with serving({HEARTBEAT: handler}) as (server, port):
        _, writer = await asyncio.open_connection(LOCALHOST, port)
        writer.write(frame_of(heartbeat(1), 3))
        await called.wait()
        writer.transport.abort()
        await until(lambda: not server.connections)
        gate.set_result(None)
        await done.wait()


async def test_a_connection_is_not_read_while_too_much_of_it_is_unanswered() -> None:
    async def test() -> None:
        gate = asyncio.get_running_loop().create_future()
        called = 0

        async def handler(request: Request) -> Message:
            nonlocal called
            called += 1
            await gate
            return m.HeartbeatResponse()

        async with serving({HEARTBEAT: handler, METADATA: lambda _: m.MetadataResponse()}, KAFKA, 1_000_000) as served:
            _, port = served
            client, other = await connect(port), await connect(port)
            large = m.HeartbeatRequest(group_id="g" * 30_000)
            asking = [asyncio.create_task(client.request(large, 3, timeout=30)) for _ in range(1000)]
            seen = -1
            while seen != called:
                seen = called
                for _ in range(20):
                    await other.request(m.MetadataRequest(topics=None), 9, timeout=30)
            assert 20 < called < 40, "30 kB each and 16 KiB overhead fill 1 MB"
            gate.set_result(None)
            await asyncio.gather(*asking)
            assert called == 1000

    await test()


async def test_a_connection_is_not_read_while_it_does_not_take_its_responses() -> None:
    async def test() -> None:
        called = 0
        topic = m.MetadataResponse.MetadataResponseTopic(name="t" * 30_000)

        def handler(request: Request) -> Message:
            nonlocal called
            called += 1
            return m.MetadataResponse(topics=[topic])

        async with serving({METADATA: handler, HEARTBEAT: echo_generation}) as (_, port):
            other = await connect(port)
            reader, writer = await asyncio.open_connection(LOCALHOST, port, limit=1000)
            request = frame_of(m.MetadataRequest(topics=None, unknown_tags={9: bytes(3000)}), 9)
            writer.write(request * 3000)
            seen = -1
            while seen != called or not called:
                seen = called
                for _ in range(20):
                    await assert_alive(other)
            assert called < 1000
            while called < 3000:
                assert await reader.read(1_000_000)
            writer.close()

    await test()


async def test_nagles_algorithm_is_off_on_both_sides() -> None:
    async with serving({HEARTBEAT: echo_generation}) as (server, port):
        client = await connect(port)
        await assert_alive(client)
        (accepted,) = server.connections
        for side in (client, accepted):
            sock = side._transport.get_extra_info("socket")
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_a_port_in_use_is_one_message() -> None:
    async with serving({}) as (_, port):
        message = f"127.0.0.1:{port} is in use by another process; choose another port for listener CLIENT"
        with pytest.raises(OSError, match=f"^{re.escape(message)}$"):
            await Server(KAFKA, {}).listen(LOCALHOST, port, "CLIENT")
    with pytest.raises(OSError, match=r"^192\.0\.2\.1 is not an address of this machine; correct listener CLIENT$"):
        await Server(KAFKA, {}).listen("192.0.2.1", 0, "CLIENT")


async def test_closing_the_server_ends_connections_and_answers_that_are_to_come() -> None:
    called = asyncio.Event()
    cancelled = asyncio.Event()

    async def forever(request: Request) -> Message:
        called.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError("unreachable")

    async with serving({HEARTBEAT: forever}) as (server, port):
        client = await connect(port)
        asking = asyncio.create_task(client.request(heartbeat(1), 3, timeout=30))
        await called.wait()
        await server.close()
        with pytest.raises(ConnectionError):
            await asking
        assert cancelled.is_set()
        assert not server.connections
        with pytest.raises(ConnectionError, match="Connection refused"):
            await connect(port)


async def test_of_many_bad_frames_few_are_logged_and_the_others_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    async with serving({HEARTBEAT: echo_generation}) as (server, port):
        with caplog.at_level(logging.WARNING):
            for _ in range(60):
                reader, writer = await asyncio.open_connection(LOCALHOST, port)
                writer.write(struct.pack(">i", -1))
                assert await reader.read() == b""
                writer.close()
        assert 10 <= len(caplog.records) <= 30
        server.complaints._since = float("-inf")
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            reader, writer = await asyncio.open_connection(LOCALHOST, port)
            writer.write(struct.pack(">i", -1))
            assert await reader.read() == b""
            writer.close()
        (record,) = caplog.records
        assert re.search(r"\((3|4|5)\d like this were not logged\)", record.getMessage())
