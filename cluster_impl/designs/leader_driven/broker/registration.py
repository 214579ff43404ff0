"""The registration of a broker, which announces that it is there: the last step of its start."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from cluster_impl.config_values import Listener
from cluster_impl.coordination.errors import ConnectionLost, NodeExists, SessionExpired
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode
from cluster_impl.replication.control_plane import NO_EPOCH, Endpoint

log = logging.getLogger(__name__)


class Registration:
    """`epoch` is the czxid of the znode, NO_EPOCH while there is none of the present session (DLD-02)."""

    def __init__(self, zookeeper: ZooKeeper, broker_id: int, listeners: Sequence[Listener]) -> None:
        self.epoch = NO_EPOCH
        self._zookeeper = zookeeper
        self._broker_id = broker_id
        self._endpoints = {at.name: Endpoint(at.host, at.port) for at in listeners}
        self._znode = OwnZnode(zookeeper, znodes.broker(broker_id), f"broker id {broker_id} is registered")

    async def register(self) -> None:
        """For the session that is open. The claim is this process's, so a znode that is there is of its own past.
        Raises SessionExpired."""
        session_id = self._zookeeper.session_id
        while True:
            try:
                stat = await self._znode.hold(self._data())
                self._check(session_id)
            except NodeExists:
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
        """The session is over, and the registration with it."""
        self.epoch = NO_EPOCH

    def _data(self) -> bytes:
        return znodes.write_broker(znodes.BrokerInfo(self._endpoints, time.time_ns() // 1_000_000))
