"""Watches /brokers/partitions_reassigned and its topics while this broker leads ("Zookeeper listeners ONLY on the
leader").

The listener reports only that an entry for a partition was added or removed. The leader reads the entry itself, and a
new leader reads it when it begins to serve.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fencepost.cluster_impl.coordination.execution import Execution
from fencepost.cluster_impl.coordination.steps import Children, Names, Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.replication.control_plane import TopicPartition


class ReassignedListener:
    """Listens during one session. `changed` is called with partitions that this broker leads."""

    def __init__(self, execution: Execution, changed: Callable[[TopicPartition], None]) -> None:
        self._execution = execution
        self._changed = changed
        self._led: dict[str, set[int]] = {}
        self._topics: set[str] = set()
        """The topics under /brokers/partitions_reassigned."""
        self._partitions: dict[str, frozenset[int]] = {}
        """The partitions under each watched topic."""
        self._stale: set[str] = {znodes.REASSIGNED}
        """Paths to read again, with a watch, if they are to be watched."""
        self._wake = asyncio.Event()

    def znode_changed(self, path: str) -> None:
        """Handle a fired watch on /brokers/partitions_reassigned or a topic in it."""
        self._stale.add(path)
        self._wake.set()

    def leads(self, partition: TopicPartition, does: bool) -> None:
        """Note that this broker begins or ceases to lead the partition."""
        of_topic = self._led.setdefault(partition.topic, set())
        if does:
            of_topic.add(partition.partition)
            self._wake.set()
        else:
            of_topic.discard(partition.partition)
            if not of_topic:
                del self._led[partition.topic]

    async def run(self) -> None:
        """Read and report changes until the session is over. Raises SessionExpired."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if not self._led:
                continue
            if znodes.REASSIGNED in self._stale:
                self._topics = set(await self._children(znodes.REASSIGNED) or ())
                for gone in self._partitions.keys() - self._topics:
                    self._notify(gone, self._partitions.pop(gone))
            for topic in sorted(self._topics & self._led.keys()):
                if topic not in self._partitions or znodes.reassigned_topic(topic) in self._stale:
                    await self._look_at(topic)

    async def _look_at(self, topic: str) -> None:
        names = await self._children(znodes.reassigned_topic(topic))
        if names is None:  # absent znodes get no watch; the watch on the parent reports a new one
            self._notify(topic, self._partitions.pop(topic, frozenset()))
            return
        found = frozenset(int(name) for name in names if name.isdecimal())
        before, self._partitions[topic] = self._partitions.get(topic, frozenset()), found
        self._notify(topic, found ^ before)

    def _notify(self, topic: str, partitions: frozenset[int]) -> None:
        for index in sorted(partitions & self._led.get(topic, set())):
            self._changed(TopicPartition(topic, index))

    async def _children(self, path: str) -> list[str] | None:
        self._stale.discard(path)
        return await self._execution.run(_watched(path))


def _watched(path: str) -> Steps[list[str] | None]:
    """Return the children with a watch set, or None if the znode is absent."""
    [found] = yield [Children(path, watch=True)]
    return list(found.names) if isinstance(found, Names) else None
