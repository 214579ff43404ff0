"""A link to a server that a test can cut, stall or slow down, in the loop of the test."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Self


class Relay:
    def __init__(self, target: str, port: int, delay: float = 0.0) -> None:
        """`delay` is how late messages come, in each direction (seconds)."""
        self.target = target
        self.port = port
        self.delay = delay
        self.listening_at = 0
        self.refused = 0
        """Connections that were tried while it was cut."""
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._cut = False
        self._open = asyncio.Event()
        self._open.set()
        self._replies = asyncio.Event()
        self._replies.set()

    @property
    def connect(self) -> str:
        return f"127.0.0.1:{self.listening_at}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.listening_at = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cut()
        assert self._server is not None
        self._server.close()
        self._open.set()
        self._replies.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Connections break, and new ones break at once."""
        self._cut = True
        for writer in self._writers:
            writer.transport.abort()

    def stall(self) -> None:
        """Connections stay and are accepted, and nothing passes."""
        self._open.clear()

    def stall_replies(self) -> None:
        """Hold back the messages of the servers only."""
        self._replies.clear()

    def heal(self) -> None:
        """Pass the messages that were held back."""
        self._cut = False
        self._open.set()
        self._replies.set()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._cut:
            self.refused += 1
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection(self.target, self.port)
            ends = {writer, far_writer}
            self._writers |= ends
            try:
                await asyncio.gather(
                    self._pass(reader, far_writer, self._open), self._pass(far_reader, writer, self._replies)
                )
            finally:
                self._writers -= ends
                for end in ends:
                    end.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passes: asyncio.Event) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._open.wait()
                await passes.wait()
                if self.delay:
                    asyncio.get_running_loop().call_later(self.delay, writer.write, data)
                    continue
                writer.write(data)
                await writer.drain()
        writer.close()
