"""An ephemeral znode by which a ZooKeeper session claims an id."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NodeExistsError, NoNodeError, SessionExpired
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.znodes import Stat
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper

log = logging.getLogger(__name__)

T = TypeVar("T")


class OwnZnode:
    """The znode that this process claims, in the session that is open. `what` describes the claim in the log."""

    def __init__(self, zookeeper: ZooKeeper, path: str, what: str) -> None:
        self.path = path
        self._zookeeper = zookeeper
        self._what = what
        self._sessions: set[int] = set()
        """All sessions of this process that may have held the znode."""

    async def hold(self, data: bytes) -> Stat:
        """Create the znode, or find it there from a create whose response was lost; return its stat.

        Raises NodeExistsError if it belongs to another session.
        """
        self._sessions.add(self._zookeeper.session_id)
        try:
            return (await self._zookeeper.create(self.path, data, ephemeral=True, make_parents=True)).stat
        except NodeExistsError:
            found = await self._zookeeper.exists(self.path)
            if found is not None and found.ephemeral_owner == self._zookeeper.session_id:
                return found
            raise

    async def within(self, timeout: float, claiming: Coroutine[Any, Any, T]) -> T:
        """Await `claiming` and return its result. Raises TimeoutError once others have held the znode for `timeout`
        seconds.

        The count restarts whenever the connection changes. A disconnected process cannot know whether the
        other session has ended, and after it has reconnected a new ZooKeeper leader may have extended that session.
        """
        loop = asyncio.get_running_loop()
        counted_from = loop.time()

        def count_anew(_: SessionState | None = None) -> None:
            nonlocal counted_from
            counted_from = loop.time()

        self._zookeeper.listeners.append(count_anew)
        task = asyncio.ensure_future(claiming)
        try:
            while not task.done():
                left = counted_from + timeout - loop.time()
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
        """Return whether a session of another process holds the znode; False if ZooKeeper does not answer.

        Earlier sessions of this process do not count as others: a server that was cut off can report a session as
        expired that the other servers keep for a while, with its znodes (KAFKA-7165).
        """
        try:
            found = await self._zookeeper.exists(self.path)
        except (ConnectionLost, SessionExpired):
            return False
        return found is not None and found.ephemeral_owner not in self._sessions

    async def until_it_may_be_free(self) -> None:
        """Wait until the znode has changed; return at once if its state is unknown.

        It may belong to an earlier session of this process, which still has to time out.
        """
        changed = asyncio.Event()
        try:
            found = await self._zookeeper.exists(self.path, lambda _: changed.set())
        except (NoNodeError, ConnectionLost, SessionExpired):
            return
        if found is not None:
            owner = found.ephemeral_owner
            log.warning("%s by ZooKeeper session %x; this process waits for that to end", self._what, owner)
            await changed.wait()
