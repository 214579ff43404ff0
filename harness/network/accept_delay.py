"""A proxy in front of the quorum port of a ZooKeeper server that keeps early connections waiting.

Only the leader of an ensemble listens on its quorum port. A follower connects as soon as it knows its leader, often
before that leader listens; it then expects a refused connection and retries at once. A Toxiproxy in between accepts
every connection and closes it when its upstream refuses, which the follower takes for the end of the leader: both hold
another election, seconds later. Links therefore lead to an accept-delay proxy, which holds a connection until it can
connect to the server.

    python -m fencepost.harness.network.accept_delay HOST:PORT=HOST:PORT…
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint, parse_endpoint
from fencepost.harness.network.socket_table import SocketState, sockets_of
from fencepost.harness.processes.command import Command
from fencepost.harness.processes.waiting import within

READY_WITHIN = 30.0
CONNECT_TIMEOUT_S = 1.0
"""Seconds that a connection waits for the server: about as long as a refused follower retries."""
RETRY_EVERY = 0.01
CHUNK = 1 << 16


def accept_delay_command(proxies: Mapping[Endpoint, Endpoint]) -> Command:
    """Return the command that starts the accept-delay proxies of one cluster; `proxies` maps listener to upstream."""
    return Command([sys.executable, "-m", __name__, *(f"{listen}={upstream}" for listen, upstream in proxies.items())])


def await_accept_delay(listeners: Collection[Endpoint], pid: int) -> None:
    """Wait until the process listens at all of these endpoints. Raises InfrastructureError after 30 s.

    The socket table is read, since a test connection would be passed on to the server.
    """

    def missing() -> set[Endpoint]:
        return set(listeners) - {entry.local for entry in sockets_of(pid) if entry.state is SocketState.LISTEN}

    if not within(READY_WITHIN, lambda: not missing()):
        ports = ", ".join(map(str, sorted(missing())))
        raise InfrastructureError(
            f"the accept-delay proxy for ZooKeeper (pid {pid}) did not start: it does not listen at {ports} after "
            f"{READY_WITHIN:g} s; see its log in the run folder"
        )


async def serve(proxies: Mapping[Endpoint, Endpoint]) -> list[asyncio.Server]:
    """Listen at each key and pass connections on to its value."""
    return [await asyncio.start_server(_connection_handler(upstream), *listen) for listen, upstream in proxies.items()]


def _connection_handler(
    upstream: Endpoint,
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            upstream_reader, upstream_writer = await _connect(upstream)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, upstream_writer), _copy(upstream_reader, writer))

    return handle


async def _connect(upstream: Endpoint) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    deadline = asyncio.get_running_loop().time() + CONNECT_TIMEOUT_S
    while True:
        try:
            return await asyncio.open_connection(*upstream)
        except OSError:
            if asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(RETRY_EVERY)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy bytes until either side ends, then close the writer."""
    try:
        while part := await reader.read(CHUNK):
            writer.write(part)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def _serve_forever(proxies: Mapping[Endpoint, Endpoint]) -> None:
    servers = await serve(proxies)
    await asyncio.gather(*(server.serve_forever() for server in servers))


def parse_proxies(arguments: Sequence[str]) -> dict[Endpoint, Endpoint]:
    """Parse `HOST:PORT=HOST:PORT` arguments: listener and upstream."""
    pairs = (argument.split("=") for argument in arguments)
    return {parse_endpoint(listen): parse_endpoint(upstream) for listen, upstream in pairs}


if __name__ == "__main__":
    asyncio.run(_serve_forever(parse_proxies(sys.argv[1:])))
