"""Procedures on a real ZooKeeper: what shall go is watched, so that a command goes on at once.

A watch goes with its znode, and none is ever set on what is absent: nobody would hear of a request that was consumed
again, and the watch would stay.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from cluster_impl.coordination import znodes as zk
from cluster_impl.coordination.execution import Execution
from cluster_impl.coordination.steps import Found, Get, Steps, run
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.leader_driven.admin.seam import T


@dataclass(slots=True, eq=False)
class _Wait:
    """Who waits for these znodes to go; those that changed are looked at again."""

    left: set[str]
    changed: set[str] = field(default_factory=set)
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class ZooKeeperSeam:
    """Of the session that is open when it is made; when that is over, everything raises SessionExpired."""

    def __init__(self, zookeeper: ZooKeeper) -> None:
        self._zookeeper = zookeeper
        self._execution = Execution(zookeeper, self._changed)
        self._waits: set[_Wait] = set()

    async def run(self, steps: Steps[T]) -> T:
        return await self._execution.run(steps)

    async def gone(self, paths: Collection[str], within: float) -> None:
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
            else:  # also when the session is over: whoever looks again finds that out
                wait.changed.add(event.path)
            if wait.changed or not wait.left:
                wait.woken.set()
