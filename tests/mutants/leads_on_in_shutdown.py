"""A broker that adopts no new leaders while it stops (KAFKA-14296; against KIP-631, Controlled Shutdown)."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.cluster_impl.designs.quorum.broker.node import BrokerNode


def apply() -> None:
    honest = BrokerNode.stop

    async def deaf(self: BrokerNode) -> None:
        self._metadata.on_records = _ignored  # type: ignore[method-assign]
        await honest(self)

    BrokerNode.stop = deaf  # type: ignore[method-assign]


def _ignored(records: Sequence[tuple[int, bytes]]) -> None:
    return None
