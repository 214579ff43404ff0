"""How a leader changes an ISR below KIP-343's level: it writes the partition's state itself, by compare-and-set.

003, leader failover: a leader that was given up while it slept finds that its write fails, and so learns that it leads
no more. Who it learns that from is ZooKeeper, the controller's word comes later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from cluster_impl.coordination.errors import BadVersion, ConnectionLost, NoNode, SessionExpired
from cluster_impl.coordination.znodes import Created, Stat, Znode
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.broker.guards import Told
from cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    TopicPartition,
)
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

NOTIFY_AFTER = 0.05
"""Seconds in which changes gather for one notification: a follower that comes back rejoins many ISRs at once."""


class StateStore(Protocol):
    """What of ZooKeeper is needed here; the errors are those of `coordination.errors`."""

    async def get(self, path: str) -> Znode: ...

    async def set(self, path: str, data: bytes, version: int) -> Stat: ...

    async def create(self, path: str, data: bytes, *, sequence: bool) -> Created: ...

    async def until_connected(self) -> None: ...


class IsrWriter:
    """`told` says what this broker was told last of a partition."""

    def __init__(self, broker_id: int, store: StateStore, told: Callable[[TopicPartition], Told | None]) -> None:
        self._broker_id = broker_id
        self._store = store
        self._told = told
        self._changed: dict[TopicPartition, None] = {}
        self._notifying: asyncio.Task[None] | None = None

    async def change(self, proposal: IsrProposal, timeout: float) -> IsrOutcome:
        """Write the ISR if the state is still the one that the proposal builds on; `timeout` in seconds."""
        partition = TopicPartition(proposal.topic, proposal.partition)
        try:
            async with asyncio.timeout(timeout):
                outcome = await self._write(partition, proposal)
        except TimeoutError:
            return IsrUnknown(f"ZooKeeper did not answer within {timeout:g} s")
        except SessionExpired as error:
            return IsrUnknown(str(error))
        if isinstance(outcome, IsrAccepted):
            self._notify(partition)
        return outcome

    async def _write(self, partition: TopicPartition, proposal: IsrProposal) -> IsrOutcome:
        """An attempt whose fate is unknown is made again: of all attempts at one version at most one can succeed."""
        told = self._told(partition)
        if told is None or told.topic_id != proposal.topic_id or told.leader_epoch != proposal.leader_epoch:
            return IsrRefused(Error.FENCED_LEADER_EPOCH)
        wanted = znodes.LeaderAndIsr(
            leader=self._broker_id,
            leader_epoch=proposal.leader_epoch,
            isr=proposal.isr,
            controller_epoch=told.controller_epoch,
        )
        while True:
            try:
                stat = await self._store.set(znodes.state(partition), znodes.write_state(wanted), proposal.version)
                return self._accepted(proposal, stat.version)
            except BadVersion:
                found = await self._read_back(partition)
                if found is not None and found.says_the_same(wanted):
                    return self._accepted(proposal, found.version)
                return IsrRefused(Error.INVALID_UPDATE_VERSION)
            except NoNode:
                return IsrRefused(Error.UNKNOWN_TOPIC_OR_PARTITION)
            except ConnectionLost:
                await self._store.until_connected()

    async def _read_back(self, partition: TopicPartition) -> znodes.LeaderAndIsr | None:
        """What is there in place of what the proposal builds on: maybe an earlier attempt of the same process, since
        nobody else writes at this leader epoch."""
        while True:
            try:
                found = await self._store.get(znodes.state(partition))
                return znodes.read_state(partition, found.data, found.stat.version)
            except (NoNode, MalformedZnode):
                return None
            except ConnectionLost:
                await self._store.until_connected()

    def _accepted(self, proposal: IsrProposal, version: int) -> IsrAccepted:
        return IsrAccepted(isr=proposal.isr, leader_epoch=proposal.leader_epoch, version=version)

    def _notify(self, partition: TopicPartition) -> None:
        """Tell the controller that it should read the state again, and pass it on."""
        self._changed[partition] = None
        if self._notifying is None or self._notifying.done():
            self._notifying = asyncio.create_task(self._notify_soon())

    async def _notify_soon(self) -> None:
        while self._changed:
            await asyncio.sleep(NOTIFY_AFTER)
            changed, self._changed = self._changed, {}
            try:
                await self._store.create(znodes.ISR_CHANGE_PREFIX, znodes.write_partitions(changed), sequence=True)
            except (ConnectionLost, SessionExpired):
                self._changed = changed | self._changed  # twice is no harm
                await self._store.until_connected()
            except NoNode as error:
                log.error("the controller was not told of ISR changes: %s", error)

    def close(self) -> None:
        if self._notifying is not None:
            self._notifying.cancel()
