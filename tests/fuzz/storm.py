"""Sends frames to a listener, each over a connection of its own, while a client there goes on."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import Registry
from tests.fuzz.frames import Frames

SIDE_BY_SIDE = 16
"""Connections that send at once."""
ANSWER_S = 0.3
"""Seconds to wait for the end of a connection; an answer may be a long time in coming, and is not waited for."""
CLIENT_EVERY_S = 0.02
CLIENT_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class Listener:
    """A listener of a node, and the process that has it."""

    name: str
    host: str
    port: int
    registry: Registry
    pid: int


@dataclass(frozen=True, slots=True)
class Cost:
    """The memory of a process in bytes, and its open files."""

    memory: int
    files: int

    @classmethod
    def of(cls, pid: int) -> Cost:
        """Raises FileNotFoundError if the process is gone."""
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
        kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        return cls(int(kilobytes) * 1024, len(list(Path(f"/proc/{pid}/fd").iterdir())))


@dataclass(slots=True)
class Client:
    """A client with one connection, which asks for the API versions again and again. Latencies in seconds."""

    listener: Listener
    latencies: list[float] = field(default_factory=list)

    async def run(self, times: int | None = None) -> None:
        """Ask so many times, or until this is cancelled. Raises what ends the connection."""
        at = self.listener
        connection = await Connection.open(
            at.host, at.port, at.registry, "good", hosts=Hosts(), timeout=CLIENT_TIMEOUT_S
        )
        try:
            while times is None or len(self.latencies) < times:
                began = time.monotonic()
                await connection.request(
                    m.ApiVersionsRequest(client_software_name="fuzz", client_software_version="1"),
                    3,
                    timeout=CLIENT_TIMEOUT_S,
                )
                self.latencies.append(time.monotonic() - began)
                await asyncio.sleep(CLIENT_EVERY_S)
        finally:
            connection.close()


async def send_all(listener: Listener, frames: Iterator[bytes]) -> None:
    """Send each frame over a new connection. Raises ConnectionError if the listener is gone."""
    loop = asyncio.get_running_loop()

    async def work() -> None:
        for frame in frames:
            with socket.socket() as connection:
                connection.setblocking(False)
                await loop.sock_connect(connection, (listener.host, listener.port))
                try:
                    await loop.sock_sendall(connection, frame)
                    connection.shutdown(socket.SHUT_WR)
                    async with asyncio.timeout(ANSWER_S):
                        while await loop.sock_recv(connection, 65536):
                            pass
                except OSError:
                    continue  # the frame has arrived, or its beginning was enough to be refused

    async with asyncio.TaskGroup() as group:
        for _ in range(SIDE_BY_SIDE):
            group.create_task(work())


async def storm(listener: Listener, count: int, seed: int) -> Client:
    """Send `count` frames while a client goes on, and return the client. Raises what ends either."""
    frames = Frames(listener.registry, seed)
    client = Client(listener)
    work = (client.run(), send_all(listener, (frames.next() for _ in range(count))))
    tasks = [asyncio.create_task(each) for each in work]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
    return client
