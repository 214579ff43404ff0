"""Producer ids, allocated from ZooKeeper in blocks, so that they are unique over all brokers and restarts."""

from __future__ import annotations

import asyncio
import logging

from fencepost.cluster_impl.coordination.errors import (
    BadVersionError,
    ConnectionLost,
    NodeExistsError,
    NoNodeError,
    SessionExpired,
)
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper import znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.replication.control_plane import ProducerIdsUnavailable

log = logging.getLogger(__name__)

BLOCK = 1000
"""Ids in a block, as in Kafka."""

_FEW = BLOCK // 4
_LAST_ID = 2**63 - 1


class ProducerIds:
    """Holds one block and fetches the next one before the first is used up, so that no request waits for ZooKeeper."""

    def __init__(self, zookeeper: ZooKeeper, broker_id: int) -> None:
        self._zookeeper = zookeeper
        self._broker_id = broker_id
        self._blocks: list[range] = []
        self._taking: asyncio.Task[None] | None = None

    def next(self) -> int:
        """Return a new id. Raises ProducerIdsUnavailable while no block is left."""
        if sum(map(len, self._blocks)) <= _FEW:
            self.prepare()
        if not self._blocks:
            raise ProducerIdsUnavailable("No block of producer ids could be taken from ZooKeeper yet.")
        block = self._blocks[0]
        self._blocks[0] = block[1:]
        if not self._blocks[0]:
            del self._blocks[0]
        return block[0]

    def prepare(self) -> None:
        """Start to allocate a block, without waiting for it."""
        if self._taking is None or self._taking.done():
            self._taking = asyncio.create_task(self._take())

    async def _take(self) -> None:
        while True:
            try:
                self._blocks.append(await self._attempt())
                return
            except (BadVersionError, NodeExistsError, NoNodeError):
                continue  # another broker was first
            except (ConnectionLost, SessionExpired):
                # A block that may have been allocated is lost; there are enough ids.
                await self._zookeeper.until_connected()
            except MalformedZnode as error:
                log.error("no producer ids can be given out: %s", error)
                return

    async def _attempt(self) -> range:
        path = znodes.PRODUCER_ID_BLOCK
        try:
            found = await self._zookeeper.get(path)
        except NoNodeError:
            block = znodes.ProducerIdBlock(self._broker_id, 0, BLOCK - 1)
            await self._zookeeper.create(path, znodes.write_producer_id_block(block))
        else:
            first = znodes.read_producer_id_block(found.data).last + 1
            if first > _LAST_ID - BLOCK:
                raise MalformedZnode(path, "its block is the last one")
            block = znodes.ProducerIdBlock(self._broker_id, first, first + BLOCK - 1)
            await self._zookeeper.set(path, znodes.write_producer_id_block(block), found.stat.version)
        return range(block.first, block.last + 1)

    def close(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
