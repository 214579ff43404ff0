"""Who comes before the door can be passed waits; who waits in vain is sent away."""

from __future__ import annotations

import asyncio
import time

import pytest

from harness.network import doors
from harness.network.addresses import Addresses, Endpoint
from harness.network.doors import doors_command, serve

pytestmark = pytest.mark.integration


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(100):
        writer.write(part)
    writer.close()


@pytest.fixture
def behind(addresses: Addresses) -> Endpoint:
    return Endpoint(addresses.node(1), 2888)


@pytest.fixture
def door(addresses: Addresses) -> Endpoint:
    return Endpoint(addresses.node(1), 2887)


def test_who_comes_early_is_led_on_once_somebody_listens(door: Endpoint, behind: Endpoint) -> None:
    async def story() -> bytes:
        (standing,) = await serve({door: behind})
        async with standing:
            reader, writer = await asyncio.open_connection(*door)
            writer.write(b"hello")
            listening = await asyncio.start_server(_echo, *behind)
            async with listening:
                said = await reader.readexactly(5)
                writer.write_eof()
                assert await reader.read() == b""
                writer.close()
            return said

    assert asyncio.run(asyncio.wait_for(story(), 10)) == b"hello"


def test_who_finds_nobody_is_sent_away(door: Endpoint, behind: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "PATIENCE", 0.05)

    async def story() -> bytes:
        (standing,) = await serve({door: behind})
        async with standing:
            reader, writer = await asyncio.open_connection(*door)
            said = await reader.read()
            writer.close()
            return said

    assert asyncio.run(asyncio.wait_for(story(), 10)) == b""


def test_when_the_host_dies_the_visitor_is_told(door: Endpoint, behind: Endpoint) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.transport.abort()

    async def story() -> bytes:
        (standing,) = await serve({door: behind})
        async with standing, await asyncio.start_server(hang_up, *behind):
            reader, writer = await asyncio.open_connection(*door)
            writer.write(b"x")
            said = await reader.read()
            writer.close()
            return said

    assert asyncio.run(asyncio.wait_for(story(), 10)) == b""


def test_the_doors_of_a_cluster_are_a_program_of_their_own(door: Endpoint, behind: Endpoint) -> None:
    async def story() -> bytes:
        listening = await asyncio.start_server(_echo, *behind)
        program = await asyncio.create_subprocess_exec(*doors_command({door: behind}).argv)
        async with listening:
            try:
                deadline = time.monotonic() + 10
                while True:
                    try:
                        reader, writer = await asyncio.open_connection(*door)
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

    assert asyncio.run(asyncio.wait_for(story(), 20)) == b"hello"
