"""Reads shared by concurrent callers: callers that arrive during a read share the next one.

A caller never gets the result of a read that began before its call: it may have created the topic meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable

Read = Callable[[Collection[str]], Awaitable[None]]


class SharedReads:
    """Runs one read at a time. `read` gets everything that was requested since the last read began."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._wanted: set[str] = set()
        self._next: asyncio.Future[None] | None = None
        self._running: asyncio.Task[None] | None = None

    async def share(self, wanted: Iterable[str]) -> None:
        """Return when a read that began after this call has ended. Raises what the read raised."""
        self._wanted |= set(wanted)
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await asyncio.shield(self._next)

    async def _run(self) -> None:
        try:
            while self._next is not None:
                done, self._next = self._next, None
                wanted, self._wanted = self._wanted, set()
                try:
                    await self._read(wanted)
                except Exception as error:
                    done.set_exception(error)
                    done.exception()  # marks the error as retrieved, also if no caller waits any more
                else:
                    done.set_result(None)
        finally:
            self._running = None

    def close(self) -> None:
        if self._running is not None:
            self._running.cancel()
