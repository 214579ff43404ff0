"""Procedures on a real ZooKeeper: waiting is a watch on each znode that is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from cluster_impl.coordination import znodes as zk
from cluster_impl.coordination.execution import Execution
from cluster_impl.coordination.steps import Exists, Present, Steps, run
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.leader_driven.admin.seam import T


@dataclass(slots=True, eq=False)
class _Wait:
    """Who waits for changes of these znodes; those that changed are looked at again."""

    paths: set[str]
    changed: set[str] = field(default_factory=set)
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class ZooKeeperSeam:
    """Of the session that is open when it is made; when that is over, everything raises SessionExpired."""

    def __init__(self, zookeeper: ZooKeeper) -> None:
        self._execution = Execution(zookeeper, self._changed)
        self._waits: set[_Wait] = set()

    async def run(self, steps: Steps[T]) -> T:
        return await self._execution.run(steps)

    async def settled(self, paths: Collection[str], there: bool, within: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        wait = _Wait(set(paths), changed=set(paths))
        self._waits.add(wait)
        try:
            while wait.paths:
                look = sorted(wait.changed & wait.paths)
                wait.changed.clear()
                wait.woken.clear()
                outcomes = await self.run(run([Exists(path, watch=True) for path in look]))
                wait.paths -= {
                    path for path, outcome in zip(look, outcomes, strict=True) if isinstance(outcome, Present) == there
                }
                if wait.paths and not wait.woken.is_set():
                    async with asyncio.timeout_at(deadline):
                        await wait.woken.wait()
                elif loop.time() >= deadline:
                    return
        except TimeoutError:
            return
        finally:
            self._waits.discard(wait)

    def _changed(self, event: zk.WatchEvent) -> None:
        """Also when the session is over: whoever looks again finds that out."""
        for wait in self._waits:
            if event.path in wait.paths:
                wait.changed.add(event.path)
                wait.woken.set()
