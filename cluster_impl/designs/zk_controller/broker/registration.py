"""A broker's znode: how it is registered, and registered again after its session has expired."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from cluster_impl.config_security import SecurityConfig
from cluster_impl.config_values import Listener
from cluster_impl.coordination.errors import ConnectionLost, NodeExists, SessionExpired
from cluster_impl.coordination.session_state import SessionState
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.ibp import Ibp
from cluster_impl.endings import NodeFailure, StartupError
from cluster_impl.replication.control_plane import NO_EPOCH

log = logging.getLogger(__name__)


def broker_info(listeners: Sequence[Listener], security: SecurityConfig, ibp: Ibp) -> znodes.BrokerInfo:
    """What this broker says of itself, now."""
    endpoints = tuple(
        znodes.BrokerEndpoint(at.name, at.host, at.port, security.protocol_of(at.name).value) for at in listeners
    )
    return znodes.BrokerInfo(ibp.broker_info_version, endpoints, time.time_ns() // 1_000_000)


class Registration:
    """Keeps an ephemeral znode for one broker id. Its czxid is the broker epoch, and the incarnation id (KIP-343).

    `registered` is called with each new epoch, `lost` when the session that held the znode has expired.
    """

    def __init__(
        self,
        zookeeper: ZooKeeper,
        broker_id: int,
        info: Callable[[], znodes.BrokerInfo],
        registered: Callable[[int], None],
        lost: Callable[[], None],
    ) -> None:
        self.epoch = NO_EPOCH
        self._zookeeper = zookeeper
        self._broker_id = broker_id
        self._znode = OwnZnode(zookeeper, znodes.broker(broker_id), f"broker id {broker_id} is registered")
        self._info = info
        self._registered = registered
        self._lost = lost
        self._settled = asyncio.Event()
        self._settled.set()
        self._expired = asyncio.Event()
        zookeeper.listeners.append(self._session_is)

    async def settled(self) -> None:
        """Return when no registration is under way, whose epoch others may know before this process does.

        One whose answer was lost is under way until the next attempt finds the znode, or the session expires.
        """
        await self._settled.wait()

    async def first(self, patience: float) -> None:
        """Register for the first time. Raises StartupError if another session holds the id for `patience` seconds."""
        try:
            await self._znode.within(patience, self._register(waits=True))
        except TimeoutError:
            raise StartupError(
                f"broker id {self._broker_id} is registered by another ZooKeeper session, which did not end within "
                f"{patience:g} s: stop the broker that has it, or give this one another broker.id."
            ) from None

    async def keep(self, *, waits: bool) -> None:
        """Register again whenever the session has expired; for ever.

        If another process has taken the id meanwhile, this one `waits` for it to go, or NodeFailure is raised.
        """
        while True:
            await self._expired.wait()
            self._expired.clear()
            await self._register(waits=waits)

    def _session_is(self, state: SessionState) -> None:
        if state is SessionState.EXPIRED:
            if self.epoch != NO_EPOCH:
                log.warning("the ZooKeeper session has expired: broker epoch %d is over", self.epoch)
                self.epoch = NO_EPOCH
                self._lost()
            self._expired.set()
            self._settled.set()

    async def _register(self, *, waits: bool) -> None:
        """One znode for the session that is open, however often that changes on the way."""
        while True:
            try:
                await self._zookeeper.until_connected()
                self._expired.clear()
                epoch = await self._create()
                if self._expired.is_set():
                    continue
                self.epoch = epoch
                self._settled.set()
                log.info("broker %d is registered with epoch %d", self._broker_id, epoch)
                self._registered(epoch)
                return
            except NodeExists:
                self._settled.set()
                if not waits and await self._znode.is_held_by_others():
                    raise NodeFailure(
                        f"broker id {self._broker_id} was registered by another process while this one had no "
                        "ZooKeeper session: stop one of the two."
                    ) from None
                await self._znode.until_it_may_be_free()
            except (ConnectionLost, SessionExpired):
                continue

    async def _create(self) -> int:
        """Returns the epoch. Raises NodeExists if the znode is another session's."""
        self._settled.clear()
        return (await self._znode.hold(znodes.write_broker(self._info()))).czxid
