"""The election: the broker that creates the ephemeral /controller is the controller (Kafka Internals (2017),
Controller failover).

As in Kafka, one multi creates the znode and raises /controller_epoch by compare-and-set. So no epoch is ever used
twice, also if a candidate ends during its election.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from fencepost.cluster_impl.coordination import znodes as zk
from fencepost.cluster_impl.coordination.errors import (
    BadVersionError,
    ConnectionLost,
    CoordinationError,
    NodeExistsError,
    NoNodeError,
)
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.zk_controller import znodes

log = logging.getLogger(__name__)

NO_CONTROLLER = -1
NO_EPOCH = 0
"""The value of /controller_epoch before the first election."""


@dataclass(frozen=True, slots=True)
class WonElection:
    """A won election. While /controller_epoch is at `epoch_version`, no other broker was elected since."""

    epoch: int
    epoch_version: int


class Elector:
    """One candidate. It watches /controller all the time, so it knows the present controller."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        broker_id: int,
        on_controller: Callable[[int], None],
        may_stand: Callable[[], bool] = lambda: True,
    ) -> None:
        """Create a candidate.

        `on_controller` is called with each id that /controller names, or with NO_CONTROLLER. While `may_stand` returns
        False the candidate only watches; call `reconsider` when that changes.
        """
        self._may_stand = may_stand
        self._zookeeper = zookeeper
        self._broker_id = broker_id
        self._on_controller = on_controller
        self._changed = asyncio.Event()
        self.controller = NO_CONTROLLER

    async def stand(self) -> WonElection | None:
        """Take part in one election; return None if it is lost. Raises ConnectionLost or SessionExpired.

        Afterwards `until_changed` waits for the next change of /controller.
        """
        attempt: WonElection | None = None
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
            await self.resign(current)  # it belongs to this session, from a term that is over

    async def until_changed(self) -> None:
        """Wait until /controller was created, changed or deleted, or the session expired, since the last read."""
        await self._changed.wait()

    def reconsider(self) -> None:
        """Wake up `until_changed`."""
        self._changed.set()

    async def holds(self, won: WonElection) -> bool:
        """Return whether this session is still the controller. Raises ConnectionLost or SessionExpired."""
        self._changed.clear()
        return await self._look() == self._zookeeper.session_id and await self._epoch() == won

    async def resign(self, won: WonElection) -> None:
        """Delete /controller if it belongs to this term, so that others need not wait for the session to end."""
        try:
            guard = zk.Check(znodes.CONTROLLER_EPOCH, won.epoch_version)
            await self._zookeeper.multi([guard, zk.Delete(znodes.CONTROLLER)])
        except CoordinationError as error:
            # Without a connection it goes with the session, or when this candidate stands again.
            log.info("/controller was not deleted at the end of the term at epoch %d: %s", won.epoch, error)

    def forget(self) -> None:
        self._zookeeper.forget(self._watch_fired)

    async def _attempt(self, before: WonElection | None) -> WonElection | None:
        """Try to create /controller. Return the result that ZooKeeper will show if it worked; None if it failed."""
        current = await self._epoch()
        wanted = WonElection(current.epoch + 1, current.epoch_version + 1)
        now_ms = time.time_ns() // 1_000_000
        raised, controller = (
            znodes.write_controller_epoch(wanted.epoch),
            znodes.write_controller(self._broker_id, now_ms),
        )
        session = self._zookeeper.session_id
        try:
            await self._zookeeper.multi(
                [
                    zk.SetData(znodes.CONTROLLER_EPOCH, raised, current.epoch_version),
                    zk.Create(znodes.CONTROLLER, controller, ephemeral=True),
                ]
            )
        except (NodeExistsError, BadVersionError):
            return None  # another candidate was faster
        except ConnectionLost:
            await self._zookeeper.until_connected()
            if session != self._zookeeper.session_id:
                return None
            await self._zookeeper.sync()
        return wanted

    async def _look(self) -> int | None:
        """Return the session that owns /controller, None if there is no controller; set a watch."""
        stat = await self._zookeeper.exists(znodes.CONTROLLER, self._watch_fired)
        if stat is not None:
            try:
                found = await self._zookeeper.get(znodes.CONTROLLER)
            except NoNodeError:
                stat = None  # the watch has fired
            else:
                stat = found.stat
                self._set_controller(_broker_id(found.data))
        if stat is None:
            self._set_controller(NO_CONTROLLER)
            return None
        return stat.ephemeral_owner

    async def _epoch(self) -> WonElection:
        while True:
            try:
                found = await self._zookeeper.get(znodes.CONTROLLER_EPOCH)
            except NoNodeError:
                try:
                    await self._zookeeper.create(znodes.CONTROLLER_EPOCH, znodes.write_controller_epoch(NO_EPOCH))
                except NodeExistsError:
                    pass
            else:
                return WonElection(znodes.read_controller_epoch(found.data), found.stat.version)

    def _watch_fired(self, event: zk.WatchEvent) -> None:
        if event.kind in (zk.WatchKind.DELETED, zk.WatchKind.EXPIRED):
            self._set_controller(NO_CONTROLLER)
        self._changed.set()

    def _set_controller(self, controller: int) -> None:
        if controller != self.controller:
            self.controller = controller
            self._on_controller(controller)


def _broker_id(data: bytes) -> int:
    try:
        return znodes.read_controller(data)
    except MalformedZnode as error:
        log.warning("%s", error)
        return NO_CONTROLLER
