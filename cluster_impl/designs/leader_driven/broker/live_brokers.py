"""The brokers that are registered: one child watch on /brokers/ids, the only one on what others own (DLD-19)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from cluster_impl.coordination.znodes import WatchEvent
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.replication.control_plane import BrokerView

log = logging.getLogger(__name__)


class LiveBrokers:
    """`views` and `epochs` are replaced, never changed. An epoch is the czxid of the broker's znode (DLD-02)."""

    def __init__(self, zookeeper: ZooKeeper, changed: Callable[[], None] = lambda: None) -> None:
        self.views: Mapping[int, BrokerView] = {}
        self.epochs: Mapping[int, int] = {}
        self.known = asyncio.Event()
        """Set once they were read for the first time."""
        self._zookeeper = zookeeper
        self._changed = changed
        self._fired = asyncio.Event()

    async def run(self) -> None:
        """Keep up with them; for ever. While ZooKeeper does not answer they stay as they were."""
        while True:
            await self._zookeeper.until_connected()
            try:
                await self.read()
            except (ConnectionLost, SessionExpired):
                continue
            await self._fired.wait()

    async def read(self) -> None:
        """Bring them up to date. Raises ConnectionLost, SessionExpired."""
        self._fired.clear()
        names = await self._zookeeper.children(znodes.BROKER_IDS, self._watch)
        ids = sorted(int(name) for name in names if name.isdecimal())
        found = await self._zookeeper.get_many([znodes.broker(each) for each in ids]) if ids else []
        views, epochs = {}, {}
        for broker_id, znode in zip(ids, found, strict=True):
            if znode is None:
                continue  # gone meanwhile, and the watch tells
            try:
                info = znodes.read_broker(broker_id, znode.data)
            except MalformedZnode as error:
                log.error("broker %d is taken for absent: %s", broker_id, error)
                continue
            views[broker_id] = BrokerView(broker_id, info.endpoints)
            epochs[broker_id] = znode.stat.czxid
        is_new = epochs != self.epochs
        if is_new:
            log.info("the live brokers are %s", sorted(epochs))
        self.views, self.epochs = views, epochs
        self.known.set()
        if is_new:
            self._changed()

    def _watch(self, _: WatchEvent) -> None:
        self._fired.set()

    def close(self) -> None:
        self._zookeeper.forget(self._watch)
