"""The election: who creates the ephemeral /controller is the controller (003, Controller failover).

The znode is created in one multi with the compare-and-set that raises /controller_epoch, as Kafka does, so no epoch is
ever used twice, not by a candidate that dies between two writes either.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from cluster_impl.coordination import znodes as zk
from cluster_impl.coordination.errors import BadVersion, ConnectionLost, CoordinationError, NodeExists, NoNode
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.zk_controller import znodes

log = logging.getLogger(__name__)

NOBODY = -1
NO_EPOCH = 0
"""Stands in /controller_epoch before the first election."""


@dataclass(frozen=True, slots=True)
class Elected:
    """Won. `epoch_version` is the version of /controller_epoch: as long as it stands, nobody was elected since."""

    epoch: int
    epoch_version: int


class Elector:
    """One candidate. It knows who the controller is as far as it has heard: the znode is watched all the time."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        broker_id: int,
        heard: Callable[[int], None],
        may_stand: Callable[[], bool] = lambda: True,
    ) -> None:
        """`heard` is called with each broker id that /controller was seen to name, NOBODY included.

        Who may not stand only looks; `reconsider` says that this has changed.
        """
        self._may_stand = may_stand
        self._zookeeper = zookeeper
        self._broker_id = broker_id
        self._heard = heard
        self._changed = asyncio.Event()
        self.controller = NOBODY

    async def stand(self) -> Elected | None:
        """Takes part once; None if it is not elected. Raises ConnectionLost or SessionExpired.

        After it, `until_changed` tells of the next change of /controller.
        """
        attempt: Elected | None = None
        while True:
            self._changed.clear()
            owner = await self._look()
            if owner is None:
                if not self._may_stand():
                    return None
                attempt = await self._attempt(attempt)
                continue
            if owner != self._zookeeper.session_id:
                return None
            current = await self._epoch()
            if current == attempt:
                return attempt
            await self.resign(current)  # it is the own session's, left from a term that is over

    async def until_changed(self) -> None:
        """Returns when /controller was created, changed or deleted, or the session expired, since it was looked at."""
        await self._changed.wait()

    def reconsider(self) -> None:
        """Whoever waits for a change looks again."""
        self._changed.set()

    async def holds(self, won: Elected) -> bool:
        """Whether the own session is the controller still. Raises ConnectionLost or SessionExpired."""
        self._changed.clear()
        return await self._look() == self._zookeeper.session_id and await self._epoch() == won

    async def resign(self, won: Elected) -> None:
        """Deletes /controller if it is that of this term, so that the others need not wait for the session to end."""
        try:
            guard = zk.Check(znodes.CONTROLLER_EPOCH, won.epoch_version)
            await self._zookeeper.multi([guard, zk.Delete(znodes.CONTROLLER)])
        except CoordinationError as error:
            # With the connection lost it goes with the session, or when this candidate stands again.
            log.info("/controller was not deleted at the end of the term at epoch %d: %s", won.epoch, error)

    def forget(self) -> None:
        self._zookeeper.forget(self._told)

    async def _attempt(self, before: Elected | None) -> Elected | None:
        """What stands in ZooKeeper if this attempt came true, which the next look will tell; None if it did not."""
        current = await self._epoch()
        wanted = Elected(current.epoch + 1, current.epoch_version + 1)
        now_ms = time.time_ns() // 1_000_000
        raised, controller = (
            znodes.write_controller_epoch(wanted.epoch),
            znodes.write_controller(self._broker_id, now_ms),
        )
        session = self._zookeeper.session_id
        try:
            await self._zookeeper.multi(
                [
                    zk.Set(znodes.CONTROLLER_EPOCH, raised, current.epoch_version),
                    zk.Create(znodes.CONTROLLER, controller, ephemeral=True),
                ]
            )
        except (NodeExists, BadVersion):
            return None  # another was faster
        except ConnectionLost:
            await self._zookeeper.until_connected()
            if session != self._zookeeper.session_id:
                return None
            await self._zookeeper.sync()
        return wanted

    async def _look(self) -> int | None:
        """The session that owns /controller; None if there is no controller. Watches it from now on."""
        stat = await self._zookeeper.exists(znodes.CONTROLLER, self._told)
        if stat is not None:
            try:
                found = await self._zookeeper.get(znodes.CONTROLLER)
            except NoNode:
                stat = None  # the watch has been told
            else:
                stat = found.stat
                self._hear(_broker_id(found.data))
        if stat is None:
            self._hear(NOBODY)
            return None
        return stat.ephemeral_owner

    async def _epoch(self) -> Elected:
        while True:
            try:
                found = await self._zookeeper.get(znodes.CONTROLLER_EPOCH)
            except NoNode:
                try:
                    await self._zookeeper.create(znodes.CONTROLLER_EPOCH, znodes.write_controller_epoch(NO_EPOCH))
                except NodeExists:
                    pass
            else:
                return Elected(znodes.read_controller_epoch(found.data), found.stat.version)

    def _told(self, event: zk.WatchEvent) -> None:
        if event.kind in (zk.WatchKind.DELETED, zk.WatchKind.EXPIRED):
            self._hear(NOBODY)
        self._changed.set()

    def _hear(self, controller: int) -> None:
        if controller != self.controller:
            self.controller = controller
            self._heard(controller)


def _broker_id(data: bytes) -> int:
    try:
        return znodes.read_controller(data)
    except MalformedZnode as error:
        log.warning("%s", error)
        return NOBODY
