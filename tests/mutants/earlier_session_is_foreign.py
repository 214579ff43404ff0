"""A broker that takes the znode of its own earlier session for another process's (KAFKA-7165; against Kafka
Controller Internals, Broker failover)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination.znodes import Stat
from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode


def apply() -> None:
    honest = OwnZnode.hold

    async def forgetful(self: OwnZnode, data: bytes) -> Stat:
        self._sessions.clear()
        return await honest(self, data)

    OwnZnode.hold = forgetful  # type: ignore[method-assign]
