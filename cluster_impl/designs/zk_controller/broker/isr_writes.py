"""ISR changes below the level of KIP-343: the leader writes the partition's state itself, by compare-and-set.

Kafka Internals (2017), leader failover: if another leader was elected while this one was suspended, its write
fails. So it learns from ZooKeeper that it no longer leads, before the request of the controller arrives.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Protocol

from fencepost.cluster_impl.coordination.errors import BadVersionError, ConnectionLost, NoNodeError, SessionExpired
from fencepost.cluster_impl.coordination.znodes import CreatedZnode, Stat, Znode
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.broker.request_guards import KnownAssignment
from fencepost.cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    TopicPartition,
)
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

NOTIFY_AFTER = 0.05
"""Seconds for which changes are collected for one notification: a returning follower rejoins many ISRs at once."""


class StateStore(Protocol):
    """The ZooKeeper operations that are used here; the errors are those of `coordination.errors`."""

    async def get(self, path: str) -> Znode: ...

    async def set(self, path: str, data: bytes, version: int) -> Stat: ...

    async def create(self, path: str, data: bytes, *, sequence: bool) -> CreatedZnode: ...

    async def until_connected(self) -> None: ...


class IsrWriter:
    """Writes the states of partitions. `assignments` has those that this broker accepted last."""

    def __init__(
        self, broker_id: int, store: StateStore, assignments: Mapping[TopicPartition, KnownAssignment]
    ) -> None:
        self._broker_id = broker_id
        self._store = store
        self._assignments = assignments
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
        """Write the state. An attempt without a response is repeated: at most one attempt at a version can succeed."""
        known = self._assignments.get(partition)
        if known is None or known.topic_id != proposal.topic_id or known.leader_epoch != proposal.leader_epoch:
            return IsrRefused(Error.FENCED_LEADER_EPOCH)
        wanted = znodes.LeaderAndIsr(
            leader=self._broker_id,
            leader_epoch=proposal.leader_epoch,
            isr=proposal.isr,
            controller_epoch=known.controller_epoch,
        )
        while True:
            try:
                stat = await self._store.set(znodes.state(partition), znodes.write_state(wanted), proposal.version)
                return self._accepted(proposal, stat.version)
            except BadVersionError:
                found = await self._read_back(partition)
                if found is not None and found.says_the_same(wanted):
                    return self._accepted(proposal, found.version)
                return IsrRefused(Error.INVALID_UPDATE_VERSION)
            except NoNodeError:
                return IsrRefused(Error.UNKNOWN_TOPIC_OR_PARTITION)
            except ConnectionLost:
                await self._store.until_connected()

    async def _read_back(self, partition: TopicPartition) -> znodes.LeaderAndIsr | None:
        """Return the present state, None if there is none. It may be the result of an earlier attempt of this process,
        as only the leader writes at this leader epoch.
        """
        while True:
            try:
                found = await self._store.get(znodes.state(partition))
                return znodes.read_state(partition, found.data, found.stat.version)
            except (NoNodeError, MalformedZnode):
                return None
            except ConnectionLost:
                await self._store.until_connected()

    def _accepted(self, proposal: IsrProposal, version: int) -> IsrAccepted:
        return IsrAccepted(isr=proposal.isr, leader_epoch=proposal.leader_epoch, version=version)

    def _notify(self, partition: TopicPartition) -> None:
        """Notify the controller, which reads the state again and sends it to the brokers."""
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
                self._changed = changed | self._changed  # a repeated notification is harmless
                await self._store.until_connected()
            except NoNodeError as error:
                log.error("the controller was not notified of ISR changes: %s", error)

    def close(self) -> None:
        if self._notifying is not None:
            self._notifying.cancel()
