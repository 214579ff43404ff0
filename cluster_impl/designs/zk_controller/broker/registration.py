"""The registration of a broker by its znode, and again after its session has expired."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from fencepost.cluster_impl.config.ibp import Ibp
from fencepost.cluster_impl.config.security import SecurityConfig
from fencepost.cluster_impl.config.values import Listener
from fencepost.cluster_impl.coordination.errors import ConnectionLost, NodeExistsError, SessionExpired
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.failures import NodeFailure, StartupError
from fencepost.cluster_impl.replication.control_plane import NO_EPOCH

log = logging.getLogger(__name__)


def broker_info(
    listeners: Sequence[Listener], security: SecurityConfig, ibp: Ibp, rack: str | None
) -> znodes.BrokerInfo:
    """Return the information that this broker registers, with the present time."""
    endpoints = tuple(
        znodes.BrokerEndpoint(at.name, at.host, at.port, security.protocol_of(at.name).value) for at in listeners
    )
    return znodes.BrokerInfo(ibp.broker_info_version, endpoints, time.time_ns() // 1_000_000, rack)


class ZnodeRegistration:
    """Holds the ephemeral znode of one broker id. Its czxid is the broker epoch and the incarnation id (KIP-343).

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
        """Wait until no registration is in progress, whose epoch others may know before this process does.

        A registration without a response is in progress until the next attempt finds the znode, or the session expires.
        """
        await self._settled.wait()

    async def first(self, timeout: float) -> None:
        """Register for the first time. Raises StartupError if another session holds the id for `timeout` seconds."""
        try:
            await self._znode.within(timeout, self._register(waits=True))
        except TimeoutError:
            raise StartupError(
                f"broker id {self._broker_id} is registered by another ZooKeeper session, which did not end within "
                f"{timeout:g} s: stop the broker that has it, or give this one another broker.id."
            ) from None

    async def keep(self, *, waits: bool) -> None:
        """Register again whenever the session has expired, for ever.

        If another process has taken the id, wait for it to end if `waits`, else raise NodeFailure.
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
        """Register in the session that is open, also if it changes meanwhile."""
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
            except NodeExistsError:
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
        """Create the znode and return the epoch. Raises NodeExistsError if the znode belongs to another session."""
        self._settled.clear()
        return (await self._znode.hold(znodes.write_broker(self._info()))).czxid
