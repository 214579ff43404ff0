"""An ephemeral znode that says of its session: this id is mine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from cluster_impl.coordination.errors import ConnectionLost, NodeExists, NoNode, SessionExpired
from cluster_impl.coordination.session_state import SessionState
from cluster_impl.coordination.znodes import Stat
from cluster_impl.coordination.zookeeper import ZooKeeper

log = logging.getLogger(__name__)

T = TypeVar("T")


class OwnZnode:
    """One that this process wants to hold, in whichever session is open. `what` it says names it in the log."""

    def __init__(self, zookeeper: ZooKeeper, path: str, what: str) -> None:
        self.path = path
        self._zookeeper = zookeeper
        self._what = what
        self._sessions: set[int] = set()
        """Of this process, all that may have held it."""

    async def hold(self, data: bytes) -> Stat:
        """Create it, or find that it is there from a create whose answer was lost. Raises NodeExists if it is another
        session's."""
        self._sessions.add(self._zookeeper.session_id)
        try:
            return (await self._zookeeper.create(self.path, data, ephemeral=True, make_parents=True)).stat
        except NodeExists:
            found = await self._zookeeper.exists(self.path)
            if found is not None and found.ephemeral_owner == self._zookeeper.session_id:
                return found
            raise

    async def within(self, patience: float, taking: Coroutine[Any, Any, T]) -> T:
        """What comes of `taking` it. Raises TimeoutError once others have held it for `patience` seconds.

        They are counted anew whenever the connection has changed: a process that hears nothing of the servers cannot
        say that a session has not ended, and one that does again may find it prolonged by a new leader.
        """
        loop = asyncio.get_running_loop()
        counted_from = loop.time()

        def count_anew(_: SessionState | None = None) -> None:
            nonlocal counted_from
            counted_from = loop.time()

        self._zookeeper.listeners.append(count_anew)
        task = asyncio.ensure_future(taking)
        try:
            while not task.done():
                left = counted_from + patience - loop.time()
                if left > 0:
                    await asyncio.wait({task}, timeout=left)
                elif await self.is_held_by_others():
                    raise TimeoutError
                else:
                    count_anew()
            return task.result()
        finally:
            self._zookeeper.listeners.remove(count_anew)
            task.cancel()

    async def is_held_by_others(self) -> bool:
        """Whether a session holds it that is none of this process's, the earlier ones among them: a server that was cut
        off can say of a session that it has expired which the others keep, with its znodes, for a while (KAFKA-7165).
        False if nobody can say."""
        try:
            found = await self._zookeeper.exists(self.path)
        except (ConnectionLost, SessionExpired):
            return False
        return found is not None and found.ephemeral_owner not in self._sessions

    async def until_it_may_be_free(self) -> None:
        """Until it has changed; at once if nothing is known of it. Also when its session is this process's earlier one,
        which still has to run out."""
        changed = asyncio.Event()
        try:
            found = await self._zookeeper.exists(self.path, lambda _: changed.set())
        except (NoNode, ConnectionLost, SessionExpired):
            return
        if found is not None:
            owner = found.ephemeral_owner
            log.warning("%s by ZooKeeper session %x; this process waits for that to end", self._what, owner)
            await changed.wait()
