"""Running procedures on a real ZooKeeper, with watches on the znodes that are waited for.

A watch goes with its znode. No watch is set on an absent znode: it would never fire for a request that was already
consumed, and would stay.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from fencepost.cluster_impl.coordination import znodes as zk
from fencepost.cluster_impl.coordination.execution import Execution
from fencepost.cluster_impl.coordination.steps import Found, Get, Steps, run
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import T


@dataclass(slots=True, eq=False)
class _Wait:
    """A wait for znodes to go; those in `changed` are read again."""

    left: set[str]
    changed: set[str] = field(default_factory=set)
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class ZooKeeperExecutor:
    """Executes procedures in the session that is open now; when it is over, every call raises SessionExpired."""

    def __init__(self, zookeeper: ZooKeeper) -> None:
        self._zookeeper = zookeeper
        self._execution = Execution(zookeeper, self._changed)
        self._waits: set[_Wait] = set()

    async def run(self, steps: Steps[T]) -> T:
        """Run the steps in the session. Raises SessionExpired."""
        return await self._execution.run(steps)

    async def gone(self, paths: Collection[str], within: float) -> None:
        """Return when none of the znodes exists, or after `within` seconds. Raises SessionExpired."""
        try:
            async with asyncio.timeout(within):
                await self._gone(paths)
        except TimeoutError:
            pass

    async def _gone(self, paths: Collection[str]) -> None:
        wait = _Wait(set(paths), changed=set(paths))
        self._waits.add(wait)
        try:
            while True:
                look = sorted(wait.changed & wait.left)
                wait.changed.clear()
                wait.woken.clear()
                outcomes = await self.run(run([Get(path, watch=True) for path in look]))
                wait.left -= {
                    path for path, outcome in zip(look, outcomes, strict=True) if not isinstance(outcome, Found)
                }
                if not wait.left:
                    return
                await wait.woken.wait()
        finally:
            self._waits.discard(wait)
            if wait.left and not self._waits:
                self._zookeeper.forget(self._changed)

    def _changed(self, event: zk.WatchEvent) -> None:
        for wait in self._waits:
            if event.path not in wait.left:
                continue
            if event.kind is zk.WatchKind.DELETED:
                wait.left.discard(event.path)
            else:  # an expired session counts as a change too: the next read raises
                wait.changed.add(event.path)
            if wait.changed or not wait.left:
                wait.woken.set()
