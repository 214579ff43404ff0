"""What administrative commands of this broker run on: its ZooKeeper session (`admin.seam.Seam`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import TypeVar

from cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from cluster_impl.coordination.execution import Execution
from cluster_impl.coordination.steps import Steps
from cluster_impl.coordination.znodes import WatchEvent, WatchKind
from cluster_impl.coordination.zookeeper import ZooKeeper

T = TypeVar("T")


class AdminSeam:
    """`execution` gives that of the present session; each command goes on in the session that it began in."""

    def __init__(self, zookeeper: ZooKeeper, execution: Callable[[], Execution]) -> None:
        self._zookeeper = zookeeper
        self._execution = execution

    async def run(self, steps: Steps[T]) -> T:
        return await self._execution().run(steps)

    async def settled(self, paths: Collection[str], there: bool, within: float) -> None:
        try:
            async with asyncio.timeout(within):
                await asyncio.gather(*(self._settled(path, there) for path in paths))
        except TimeoutError:
            pass

    async def _settled(self, path: str, there: bool) -> None:
        """A watch is set only where there is something to wait for."""
        while (await self._exists(path)) is not there:
            changed: asyncio.Future[WatchEvent] = asyncio.get_running_loop().create_future()

            def tell(event: WatchEvent, changed: asyncio.Future[WatchEvent] = changed) -> None:
                if not changed.done():
                    changed.set_result(event)

            if (await self._exists(path, tell)) is there:
                self._zookeeper.forget(tell)
                return
            try:
                event = await changed
            except asyncio.CancelledError:
                self._zookeeper.forget(tell)
                raise
            if event.kind is WatchKind.EXPIRED:
                raise SessionExpired("the session expired while a command waited", path)

    async def _exists(self, path: str, watch: Callable[[WatchEvent], None] | None = None) -> bool:
        session_id = self._zookeeper.session_id
        while True:
            try:
                return await self._zookeeper.exists(path, watch) is not None
            except ConnectionLost:
                await self._zookeeper.until_connected()
                if self._zookeeper.session_id != session_id:
                    raise SessionExpired("the session expired while a command waited", path) from None
