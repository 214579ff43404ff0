"""The registration of a broker, the last step of its start."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from fencepost.cluster_impl.config.values import Listener
from fencepost.cluster_impl.coordination.errors import ConnectionLost, NodeExistsError, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH, Endpoint

log = logging.getLogger(__name__)


class BrokerIdRegistration:
    """`epoch` is the czxid of the registration znode, NO_EPOCH without one in the present session (DLD-02)."""

    def __init__(self, zookeeper: ZooKeeper, broker_id: int, listeners: Sequence[Listener], rack: str | None) -> None:
        self.epoch = NO_EPOCH
        self._zookeeper = zookeeper
        self._broker_id = broker_id
        self._endpoints = {at.name: Endpoint(at.host, at.port) for at in listeners}
        self._rack = rack
        self._znode = OwnZnode(zookeeper, znodes.broker(broker_id), f"broker id {broker_id} is registered")

    async def register(self) -> None:
        """Register in the open session.

        This process holds the claim, so an existing znode is of an earlier session of its own. Raises SessionExpired.
        """
        session_id = self._zookeeper.session_id
        while True:
            try:
                stat = await self._znode.hold(self._data())
                self._check(session_id)
            except NodeExistsError:
                await self._znode.until_it_may_be_free()
                self._check(session_id)
            except ConnectionLost:
                await self._zookeeper.until_connected()
                self._check(session_id)
            else:
                self.epoch = stat.czxid
                log.info("broker %d is registered with epoch %d", self._broker_id, self.epoch)
                return

    def _check(self, session_id: int) -> None:
        if self._zookeeper.session_id != session_id:
            raise SessionExpired("the session expired before the broker was registered")

    def lost(self) -> None:
        """Note that the session is over, and the registration with it."""
        self.epoch = NO_EPOCH

    def _data(self) -> bytes:
        return znodes.write_broker(znodes.BrokerZnode(self._endpoints, time.time_ns() // 1_000_000, self._rack))
