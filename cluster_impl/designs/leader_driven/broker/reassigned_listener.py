"""Listens to /brokers/partitions_reassigned and to the topics in it, while this broker leads something
("Zookeeper listeners ONLY on the leader").

It tells only that a partition is there now, or is there no more. What shall become of the partition its leader reads
itself, and a new leader reads it when it begins to serve.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cluster_impl.coordination.execution import Execution
from cluster_impl.coordination.steps import Children, Names, Steps
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.replication.control_plane import TopicPartition


class ReassignedListener:
    """Of one session. `changed` is told of partitions that this broker leads."""

    def __init__(self, execution: Execution, changed: Callable[[TopicPartition], None]) -> None:
        self._execution = execution
        self._changed = changed
        self._led: dict[str, set[int]] = {}
        self._topics: set[str] = set()
        """What is under /brokers/partitions_reassigned."""
        self._partitions: dict[str, frozenset[int]] = {}
        """By topic that is listened to, what is under it."""
        self._stale: set[str] = {znodes.REASSIGNED}
        """Paths that are to be read, with a watch, if they are to be listened to."""
        self._wake = asyncio.Event()

    def znode_changed(self, path: str) -> None:
        self._stale.add(path)
        self._wake.set()

    def leads(self, partition: TopicPartition, does: bool) -> None:
        """This broker begins to lead a partition, or leads it no more."""
        of_topic = self._led.setdefault(partition.topic, set())
        if does:
            of_topic.add(partition.partition)
            self._wake.set()
        else:
            of_topic.discard(partition.partition)
            if not of_topic:
                del self._led[partition.topic]

    async def run(self) -> None:
        """Until the session is over: raises SessionExpired."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if not self._led:
                continue
            if znodes.REASSIGNED in self._stale:
                self._topics = set(await self._children(znodes.REASSIGNED) or ())
                for gone in self._partitions.keys() - self._topics:
                    self._tell(gone, self._partitions.pop(gone))
            for topic in sorted(self._topics & self._led.keys()):
                if topic not in self._partitions or znodes.reassigned_topic(topic) in self._stale:
                    await self._look_at(topic)

    async def _look_at(self, topic: str) -> None:
        names = await self._children(znodes.reassigned_topic(topic))
        if names is None:  # no watch was set: should it come again, it is new, and the watch above it tells
            self._tell(topic, self._partitions.pop(topic, frozenset()))
            return
        found = frozenset(int(name) for name in names if name.isdecimal())
        before, self._partitions[topic] = self._partitions.get(topic, frozenset()), found
        self._tell(topic, found ^ before)

    def _tell(self, topic: str, partitions: frozenset[int]) -> None:
        for index in sorted(partitions & self._led.get(topic, set())):
            self._changed(TopicPartition(topic, index))

    async def _children(self, path: str) -> list[str] | None:
        self._stale.discard(path)
        return await self._execution.run(_watched(path))


def _watched(path: str) -> Steps[list[str] | None]:
    """None if it is absent."""
    [found] = yield [Children(path, watch=True)]
    return list(found.names) if isinstance(found, Names) else None
