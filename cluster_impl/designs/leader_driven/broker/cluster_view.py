"""The cluster metadata for clients, read from ZooKeeper on demand: a broker watches only what it hosts (DLD-19)."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from fencepost.cluster_impl.api.topic_names import problem_with_name
from fencepost.cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from fencepost.cluster_impl.coordination.execution import MAX_READS
from fencepost.cluster_impl.coordination.znodes import Znode
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker.live_brokers import LiveBrokers
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.topic_settings import problem_with, usable
from fencepost.cluster_impl.replication.control_plane import (
    NO_EPOCH,
    NO_LEADER,
    ClusterView,
    PartitionView,
    TopicPartition,
    TopicView,
)

T = TypeVar("T")

log = logging.getLogger(__name__)

_AT_ONCE = 1000
"""Partitions whose znodes are read together; many more would block the event loop too long."""


Read = Callable[[Collection[str]], Awaitable[None]]


class SharedReads:
    """Runs one read at a time. `read` gets everything that was requested since the last read began.

    A caller never gets the result of a read that began before its call: it may have created the topic meanwhile.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._wanted: set[str] = set()
        self._next: asyncio.Future[None] | None = None
        self._running: asyncio.Task[None] | None = None

    async def share(self, wanted: Iterable[str]) -> None:
        """Return when a read that began after this call has ended. Raises what the read raised."""
        self._wanted |= set(wanted)
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await asyncio.shield(self._next)

    async def _run(self) -> None:
        try:
            while self._next is not None:
                done, self._next = self._next, None
                wanted, self._wanted = self._wanted, set()
                try:
                    await self._read(wanted)
                except Exception as error:
                    done.set_exception(error)
                    done.exception()  # marks the error as retrieved, also if no caller waits any more
                else:
                    done.set_result(None)
        finally:
            self._running = None

    def close(self) -> None:
        if self._running is not None:
            self._running.cancel()


class ClusterViews:
    """The metadata as last read. Every caller gets data that was read after its call, and callers share reads
    (DLD-19)."""

    def __init__(self, zookeeper: ZooKeeper, cluster_id: str, broker_id: int, live: LiveBrokers) -> None:
        self._zookeeper = zookeeper
        self._cluster_id = cluster_id
        self._broker_id = broker_id
        self._live = live
        self._topics: dict[str, TopicView] = {}
        self._meanwhile: dict[str, TopicView | None] | None = None
        """Topics that were read singly while a read of all topics runs, and may be newer; else None."""
        self._is_out_of_date = False
        self.broker_configs: Mapping[str, Mapping[str, str]] = {}
        """The settings of brokers, as `ClusterView` has them; set by the broker, which follows them."""
        self._some = SharedReads(self._read_some)
        self._all = SharedReads(self._read_all)

    @property
    def view(self) -> ClusterView:
        """The cluster as last read. Every broker names itself as the one that administers the cluster (DLD-18)."""
        return ClusterView(self._cluster_id, self._broker_id, self._live.views, self._topics, self.broker_configs)

    async def look(self, topics: Collection[str] | None) -> None:
        """Read these topics, or all. If ZooKeeper does not answer within half the session timeout, the view stays as it
        was."""
        valid = [name for name in topics or () if problem_with_name(name) is None]
        reads = self._all if topics is None else self._some
        if topics is not None and not valid:
            return
        try:
            async with asyncio.timeout(self._zookeeper.session_timeout / 2):
                await reads.share(valid)
            self._is_out_of_date = False
        except (TimeoutError, ConnectionLost, SessionExpired) as error:
            if not self._is_out_of_date:
                log.warning(
                    "clients get metadata that may be out of date: %s",
                    str(error) or "ZooKeeper does not answer in time",
                )
            self._is_out_of_date = True

    def close(self) -> None:
        self._some.close()
        self._all.close()

    async def _read_all(self, _: Collection[str]) -> None:
        meanwhile: dict[str, TopicView | None] = {}
        self._meanwhile = meanwhile
        try:
            names = await self._zookeeper.children(znodes.TOPICS)
            views: dict[str, TopicView | None] = {}
            for part in _parts(names, _AT_ONCE // 3):
                views.update(await self._topics_of(part))
        finally:
            self._meanwhile = None
        self._topics = {name: topic for name, topic in (views | meanwhile).items() if topic is not None}

    async def _read_some(self, names: Collection[str]) -> None:
        meanwhile = self._meanwhile
        found = await self._topics_of(sorted(names))
        if meanwhile is not None:
            meanwhile.update({name: found.get(name) for name in names})
        topics = {name: topic for name, topic in self._topics.items() if name not in names}
        self._topics = topics | found

    async def _topics_of(self, names: Sequence[str]) -> dict[str, TopicView]:
        """Return the topics that exist, with the partitions that are completely created."""
        paths = [znodes.topic(name) for name in names]
        datas, children = await asyncio.gather(self._get(paths), self._children(paths))
        partitions = [
            TopicPartition(name, int(index))
            for name, indexes in zip(names, children, strict=True)
            for index in indexes or ()
            if index.isdecimal()
        ]
        views = dict(zip(partitions, await self._partitions(partitions), strict=True))
        found: dict[str, dict[int, PartitionView]] = {}
        for at, view in views.items():
            if view is not None:
                found.setdefault(at.topic, {})[at.partition] = view
        return {
            name: TopicView(name, znodes.topic_id(name, znode.stat.czxid), found[name], _config(name, znode))
            for name, znode in zip(names, datas, strict=True)
            if znode is not None and name in found
        }

    async def _partitions(self, partitions: Sequence[TopicPartition]) -> list[PartitionView | None]:
        parts = await asyncio.gather(*map(self._some_partitions, _parts(partitions, MAX_READS // 3)))
        return list(itertools.chain.from_iterable(parts))

    async def _some_partitions(self, partitions: Sequence[TopicPartition]) -> list[PartitionView | None]:
        paths = [path for at in partitions for path in (znodes.replicas(at), znodes.leader(at), znodes.isr(at))]
        found = await self._zookeeper.get_many(paths)
        return [_partition(at, *found[3 * place : 3 * place + 3]) for place, at in enumerate(partitions)]

    async def _get(self, paths: Sequence[str]) -> list[Znode | None]:
        parts = await asyncio.gather(*map(self._zookeeper.get_many, _parts(paths, MAX_READS)))
        return list(itertools.chain.from_iterable(parts))

    async def _children(self, paths: Sequence[str]) -> list[list[str] | None]:
        parts = await asyncio.gather(*map(self._zookeeper.children_of_many, _parts(paths, MAX_READS)))
        return list(itertools.chain.from_iterable(parts))


def _parts(of: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    return (of[at : at + size] for at in range(0, len(of), size))


def _config(name: str, znode: Znode) -> dict[str, str]:
    try:
        return usable(f"topic {name}", znodes.read_topic(name, znode.data).config, problem_with)
    except MalformedZnode as error:
        log.error("topic %s gets the default settings: %s", name, error)
        return {}


def _partition(
    at: TopicPartition, replicas: Znode | None, leader: Znode | None, isr: Znode | None
) -> PartitionView | None:
    """Return the partition, or None if it is being created or cannot be read.

    A leader is included once it has its epoch and has written its ISR; before that it serves no client.
    """
    if replicas is None:
        return None
    try:
        led = znodes.read_leader(at, leader.data) if leader is not None else None
        in_sync = znodes.read_isr(at, isr.data, isr.stat.version) if isr is not None else None
        assigned = znodes.read_replicas(at, replicas.data)
        if in_sync is None:
            return PartitionView(assigned, (), NO_LEADER, NO_EPOCH)
        leads = led is not None and led.epoch == in_sync.epoch and bool(in_sync.isr)
        return PartitionView(assigned, in_sync.isr, led.broker_id if led and leads else NO_LEADER, in_sync.epoch)
    except MalformedZnode as error:
        log.error("%s is left out of the metadata for clients: %s", at, error)
        return None
