"""An early connection waits for its server, and is closed if the server never listens."""

from __future__ import annotations

import asyncio
import time

import pytest

from fencepost.harness.network import accept_delay
from fencepost.harness.network.accept_delay import accept_delay_command, serve
from fencepost.harness.network.addresses import Addresses, Endpoint

pytestmark = pytest.mark.integration


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(100):
        writer.write(part)
    writer.close()


@pytest.fixture
def upstream(addresses: Addresses) -> Endpoint:
    return Endpoint(addresses.node(1), 2888)


@pytest.fixture
def listen(addresses: Addresses) -> Endpoint:
    return Endpoint(addresses.node(1), 2887)


async def test_an_early_connection_is_passed_on_once_the_server_listens(listen: Endpoint, upstream: Endpoint) -> None:
    async def scenario() -> bytes:
        (server,) = await serve({listen: upstream})
        async with server:
            reader, writer = await asyncio.open_connection(*listen)
            writer.write(b"hello")
            listening = await asyncio.start_server(_echo, *upstream)
            async with listening:
                said = await reader.readexactly(5)
                writer.write_eof()
                assert await reader.read() == b""
                writer.close()
            return said

    assert await scenario() == b"hello"


async def test_a_connection_is_closed_without_a_server(
    listen: Endpoint, upstream: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accept_delay, "CONNECT_TIMEOUT_S", 0.05)

    async def scenario() -> bytes:
        (server,) = await serve({listen: upstream})
        async with server:
            reader, writer = await asyncio.open_connection(*listen)
            said = await reader.read()
            writer.close()
            return said

    assert await scenario() == b""


async def test_when_the_server_ends_the_connection_is_closed(listen: Endpoint, upstream: Endpoint) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.transport.abort()

    async def scenario() -> bytes:
        (server,) = await serve({listen: upstream})
        async with server, await asyncio.start_server(hang_up, *upstream):
            reader, writer = await asyncio.open_connection(*listen)
            writer.write(b"x")
            said = await reader.read()
            writer.close()
            return said

    assert await scenario() == b""


async def test_the_proxies_of_a_cluster_run_as_a_program(listen: Endpoint, upstream: Endpoint) -> None:
    async def scenario() -> bytes:
        listening = await asyncio.start_server(_echo, *upstream)
        program = await asyncio.create_subprocess_exec(*accept_delay_command({listen: upstream}).argv)
        async with listening:
            try:
                deadline = time.monotonic() + 10
                while True:
                    try:
                        reader, writer = await asyncio.open_connection(*listen)
                        break
                    except OSError:
                        assert time.monotonic() < deadline
                        await asyncio.sleep(0.01)
                writer.write(b"hello")
                said = await reader.readexactly(5)
                writer.close()
                return said
            finally:
                program.kill()
                await program.wait()

    assert await scenario() == b"hello"
