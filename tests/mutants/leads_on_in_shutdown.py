"""A broker that adopts no new leaders while it stops (KAFKA-14296; against KIP-631, Controlled Shutdown)."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.cluster_impl.designs.quorum.broker.node import BrokerNode
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14296",
    designs=(QUORUM,),
    rules=("LEAD-02", "ISR-01"),
    scenarios=("controlled-shutdown", "rolling-restart"),
    unit="tests/cluster_impl/designs/quorum/broker",
)


def apply() -> None:
    honest = BrokerNode.stop

    async def deaf(self: BrokerNode) -> None:
        self._metadata.on_records = _ignored  # type: ignore[method-assign]
        await honest(self)

    BrokerNode.stop = deaf  # type: ignore[method-assign]


def _ignored(records: Sequence[tuple[int, bytes]]) -> None:
    return None
