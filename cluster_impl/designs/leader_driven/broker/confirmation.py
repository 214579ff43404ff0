"""Confirming that the ZooKeeper servers still keep the session (decision DLD-15).

When a session ends, ZooKeeper lets other brokers take its leaderships, but a client that is cut off learns of that
later. So a broker that has had no response for a session timeout, counted from when the answered request was *sent*,
must assume that its leaderships are lost.
"""

from __future__ import annotations

import asyncio
import time

from fencepost.cluster_impl.coordination.errors import CoordinationError
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper

ATTEMPTS = 6
"""Confirmations per session timeout."""

_PAUSE = 0.02
"""Seconds to wait after a failed confirmation."""


class SessionConfirmation:
    """Confirms the session by regular requests."""

    def __init__(self, zookeeper: ZooKeeper) -> None:
        self._zookeeper = zookeeper

    def holds(self) -> bool:
        """Return True if the session was confirmed within the session timeout.

        Compares with the clock at each call, so a process that slept through the session knows it as soon as it wakes.
        """
        return time.monotonic() - self._zookeeper.synced_at < self._zookeeper.session_timeout

    async def run(self) -> None:
        """Confirm the session again and again; never returns."""
        while True:
            await self._zookeeper.until_connected()
            pause = self._zookeeper.session_timeout / ATTEMPTS
            try:
                await self._zookeeper.confirm()
            except CoordinationError:
                pause = _PAUSE
            await asyncio.sleep(pause)
