"""The claim of a broker id, taken before everything else (decision DLD-01).

Brokers register last. Without a claim, a second process with the same id would drain the queue of the first, and could
lead, before it found the id registered.
"""

from __future__ import annotations

import logging
import os
import socket

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NodeExistsError, NoNodeError, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode
from fencepost.cluster_impl.failures import NodeFailure, StartupError

log = logging.getLogger(__name__)

_GRACE = 1.0
"""Seconds beyond the session timeout within which the claim of a killed process must be gone."""


class IdClaim:
    """The claim of one broker id by the open session of this process."""

    def __init__(self, zookeeper: ZooKeeper, broker_id: int) -> None:
        self._zookeeper = zookeeper
        self._broker_id = broker_id
        self._znode = OwnZnode(zookeeper, znodes.claim(broker_id), f"broker id {broker_id} is claimed")
        self._data = znodes.write_claim(znodes.ClaimZnode(os.getpid(), socket.gethostname()))
        self._holder = 0
        """The id of the session that took the claim last, or 0."""

    @property
    def is_held(self) -> bool:
        """True if the session that is open now holds the claim, as far as this process knows."""
        return self._holder != 0 and self._holder == self._zookeeper.session_id

    async def first(self) -> None:
        """Take the claim, also after a killed process of this id. Raises StartupError if another process keeps it."""
        timeout_s = self._zookeeper.session_timeout + _GRACE
        try:
            await self._znode.within(timeout_s, self._take_when_free())
        except TimeoutError:
            raise StartupError(
                f"broker id {self._broker_id} is claimed by another process{await self._whose()}, which did not end "
                f"within {timeout_s:g} s: stop that one, or give this one another broker.id."
            ) from None

    async def again(self) -> None:
        """Take the claim for the session that is open now, or opens next.

        Raises NodeFailure if another process has it, SessionExpired if the session ends meanwhile.
        """
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
        """Try to take the claim; return True if this session holds it. Survives broken connections."""
        while True:
            await self._zookeeper.until_connected()
            session_id = self._zookeeper.session_id
            try:
                await self._znode.hold(self._data)
            except NodeExistsError:
                return False
            except (ConnectionLost, SessionExpired):
                continue
            self._holder = session_id
            log.info("broker id %d is claimed by ZooKeeper session %x", self._broker_id, session_id)
            return True

    async def _whose(self) -> str:
        """Return " (pid ... on ...)" for the process that holds the claim, or "" if that is unknown."""
        try:
            found = await self._zookeeper.get(self._znode.path)
            claimant = znodes.read_claim(self._broker_id, found.data)
        except (NoNodeError, ConnectionLost, SessionExpired, MalformedZnode):
            return ""
        return f" (pid {claimant.pid} on {claimant.host})"
