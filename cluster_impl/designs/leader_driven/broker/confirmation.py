"""Whether the servers still keep the session, as far as this process can know (decision DLD-15).

ZooKeeper gives the leaderships of a session away when it ends, and a client that is cut off learns of that only later.
So a broker that was not answered for a session's time, counted from when what was answered had been *sent*, must take
its leaderships for lost, although nobody said so.
"""

from __future__ import annotations

import asyncio
import time

from cluster_impl.coordination.errors import CoordinationError
from cluster_impl.coordination.zookeeper import ZooKeeper

ATTEMPTS = 6
"""How often the session is confirmed within its time."""

_PAUSE = 0.02
"""Seconds after an attempt that was lost."""


class Confirmation:
    def __init__(self, zookeeper: ZooKeeper) -> None:
        self._zookeeper = zookeeper

    def holds(self) -> bool:
        """Compares with the clock each time: a process that slept through the session knows it the moment it wakes."""
        return time.monotonic() - self._zookeeper.synced_at < self._zookeeper.session_timeout

    async def run(self) -> None:
        """Keep asking; for ever."""
        while True:
            await self._zookeeper.until_connected()
            pause = self._zookeeper.session_timeout / ATTEMPTS
            try:
                await self._zookeeper.confirm()
            except CoordinationError:
                pause = _PAUSE
            await asyncio.sleep(pause)
