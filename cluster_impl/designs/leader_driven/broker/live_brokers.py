"""The registered brokers: one child watch on /brokers/ids, the only watch on znodes of other brokers (DLD-19)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from fencepost.cluster_impl.coordination.errors import ConnectionLost, SessionExpired
from fencepost.cluster_impl.coordination.znodes import WatchEvent
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.replication.control_plane import BrokerView

log = logging.getLogger(__name__)


class LiveBrokers:
    """`views` and `epochs` map broker ids and are replaced, never changed. An epoch is the czxid of the broker's znode
    (DLD-02)."""

    def __init__(self, zookeeper: ZooKeeper, changed: Callable[[], None] = lambda: None) -> None:
        self.views: Mapping[int, BrokerView] = {}
        self.epochs: Mapping[int, int] = {}
        self.known = asyncio.Event()
        """Set once the brokers were read for the first time."""
        self._zookeeper = zookeeper
        self._changed = changed
        self._fired = asyncio.Event()

    async def run(self) -> None:
        """Read the brokers at every change; never returns. While ZooKeeper does not answer, the last read stands."""
        while True:
            await self._zookeeper.until_connected()
            try:
                await self.read()
            except (ConnectionLost, SessionExpired):
                continue
            await self._fired.wait()

    async def read(self) -> None:
        """Read the brokers. Raises ConnectionLost, SessionExpired."""
        self._fired.clear()
        names = await self._zookeeper.children(znodes.BROKER_IDS, self._watch)
        ids = sorted(int(name) for name in names if name.isdecimal())
        found = await self._zookeeper.get_many([znodes.broker(broker_id) for broker_id in ids]) if ids else []
        views, epochs = {}, {}
        for broker_id, znode in zip(ids, found, strict=True):
            if znode is None:
                continue  # it went since the list was read; the watch reports that
            try:
                info = znodes.read_broker(broker_id, znode.data)
            except MalformedZnode as error:
                log.error("broker %d counts as absent, because its registration cannot be read: %s", broker_id, error)
                continue
            views[broker_id] = BrokerView(broker_id, info.endpoints, info.rack)
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
