"""A door before the port at which only the leader of a ZooKeeper ensemble listens: whoever comes early waits there.

A server that follows connects as soon as it knows its leader, often before that listens, and is meant to be refused and
to try again at once. A Toxiproxy in between accepts in any case and hangs up, which a follower takes for the end of the
leader: both hold another election, seconds later. So links lead to a door, which connects on as soon as it can.

    python -m harness.network.doors HOST:PORT=HOST:PORT…
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from harness.backends.backend import Command
from harness.errors import InfrastructureError
from harness.network.addresses import Endpoint
from harness.network.socket_table import State, sockets_of

READY_WITHIN = 10.0
PATIENCE = 1.0
"""Seconds at the door: about as long as a follower tries again when it is refused."""
KNOCK_EVERY = 0.01
CHUNK = 1 << 16


def doors_command(doors: Mapping[Endpoint, Endpoint]) -> Command:
    """How to start the doors of one cluster: where each is, and where it leads."""
    return Command([sys.executable, "-m", __name__, *(f"{door}={behind}" for door, behind in doors.items())])


def await_doors(doors: Collection[Endpoint], pid: int) -> None:
    """Until the process listens at all of them. Nobody knocks for that: behind a door may be somebody who would take it
    for a visitor. InfrastructureError after 10 s."""
    deadline = time.monotonic() + READY_WITHIN
    while missing := set(doors) - {each.local for each in sockets_of(pid) if each.state is State.LISTEN}:
        if time.monotonic() > deadline:
            raise InfrastructureError(f"nobody listens at {min(missing)}: the doors of ZooKeeper did not open")
        time.sleep(KNOCK_EVERY)


async def serve(doors: Mapping[Endpoint, Endpoint]) -> list[asyncio.Server]:
    return [await asyncio.start_server(_visitor_of(behind), *door) for door, behind in doors.items()]


def _visitor_of(behind: Endpoint) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            onward_reader, onward_writer = await _knock(behind)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_carry(reader, onward_writer), _carry(onward_reader, writer))

    return visit


async def _knock(behind: Endpoint) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while True:
        try:
            return await asyncio.open_connection(*behind)
        except OSError:
            if asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(KNOCK_EVERY)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until either side ends; then the other is told so, after all that was said before."""
    try:
        while part := await reader.read(CHUNK):
            writer.write(part)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def _stand(doors: Mapping[Endpoint, Endpoint]) -> None:
    servers = await serve(doors)
    await asyncio.gather(*(server.serve_forever() for server in servers))


def _parsed(arguments: Sequence[str]) -> dict[Endpoint, Endpoint]:
    pairs = (argument.split("=") for argument in arguments)
    return {_endpoint(door): _endpoint(behind) for door, behind in pairs}


def _endpoint(text: str) -> Endpoint:
    host, _, port = text.rpartition(":")
    return Endpoint(host, int(port))


if __name__ == "__main__":
    asyncio.run(_stand(_parsed(sys.argv[1:])))
