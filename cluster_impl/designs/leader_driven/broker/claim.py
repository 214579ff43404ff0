"""The claim of a broker id, taken before anything else: brokers register last, so a second process with the id would
drain the queue of the first, and could lead, before it found the registration taken (decision DLD-01)."""

from __future__ import annotations

import logging
import os
import socket

from cluster_impl.coordination.errors import ConnectionLost, NodeExists, NoNode, SessionExpired
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode
from cluster_impl.endings import NodeFailure, StartupError

log = logging.getLogger(__name__)

_GRACE = 1.0
"""Seconds beyond a session's time in which the claim of a process that was killed must have gone."""


class IdClaim:
    """Of one broker id, by whichever session of this process is open."""

    def __init__(self, zookeeper: ZooKeeper, broker_id: int) -> None:
        self._zookeeper = zookeeper
        self._broker_id = broker_id
        self._znode = OwnZnode(zookeeper, znodes.claim(broker_id), f"broker id {broker_id} is claimed")
        self._data = znodes.write_claim(znodes.Claim(os.getpid(), socket.gethostname()))
        self._holder = 0
        """The one that took it last."""

    @property
    def is_held(self) -> bool:
        """By the session that is open now, as far as this process knows."""
        return self._holder != 0 and self._holder == self._zookeeper.session_id

    async def first(self) -> None:
        """Take it, from a killed process of this id too. Raises StartupError if another process keeps it."""
        patience = self._zookeeper.session_timeout + _GRACE
        try:
            await self._znode.within(patience, self._take_when_free())
        except TimeoutError:
            raise StartupError(
                f"broker id {self._broker_id} is claimed by another process{await self._whose()}, which did not end "
                f"within {patience:g} s: stop that one, or give this one another broker.id."
            ) from None

    async def again(self) -> None:
        """Take it for the session that is open now, or opens next. Raises NodeFailure if another process has it;
        SessionExpired."""
        await self._zookeeper.until_connected()
        session_id = self._zookeeper.session_id
        while not await self._take():
            if await self._znode.is_held_by_others():
                raise NodeFailure(
                    f"broker id {self._broker_id} was claimed by another process{await self._whose()} while this one "
                    "had no ZooKeeper session: stop one of the two."
                )
            await self._znode.until_it_may_be_free()
            if self._zookeeper.session_id != session_id:
                raise SessionExpired("the session expired while its id was claimed")

    async def _take_when_free(self) -> None:
        while not await self._take():
            await self._znode.until_it_may_be_free()

    async def _take(self) -> bool:
        """Whether it is the session's own. Survives broken connections."""
        while True:
            await self._zookeeper.until_connected()
            session_id = self._zookeeper.session_id
            try:
                await self._znode.hold(self._data)
            except NodeExists:
                return False
            except (ConnectionLost, SessionExpired):
                continue
            self._holder = session_id
            log.info("broker id %d is claimed by ZooKeeper session %x", self._broker_id, session_id)
            return True

    async def _whose(self) -> str:
        try:
            found = await self._zookeeper.get(self._znode.path)
            who = znodes.read_claim(self._broker_id, found.data)
        except (NoNode, ConnectionLost, SessionExpired, MalformedZnode):
            return ""
        return f" (pid {who.pid} on {who.host})"
