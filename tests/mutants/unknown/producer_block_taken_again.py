"""A restarted broker that goes on with the last block of producer ids if that was its own (against KIP-98).

The ids that it gave out before its restart are given out again, so two idempotent producers share sequence numbers.
"""

from __future__ import annotations

from contextlib import suppress

from fencepost.cluster_impl.coordination.errors import NoNodeError
from fencepost.cluster_impl.designs.on_zookeeper import znodes
from fencepost.cluster_impl.designs.on_zookeeper.producer_ids import ProducerIds
from tests.mutants.defect import LEADER_DRIVEN, ZK, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(ZK, LEADER_DRIVEN),
    rules=("ACK-01", "CRD-06"),
    scenarios=(),
    unit="tests/mutants/unknown/test_outlives.py::test_no_producer_id_is_given_twice_by_a_broker_that_restarts",
    kind=Kind.OUTLIVES,
)


def apply() -> None:
    honest = ProducerIds._attempt

    async def resuming(self: ProducerIds) -> range:
        if not self._blocks:
            with suppress(NoNodeError):
                found = await self._zookeeper.get(znodes.PRODUCER_ID_BLOCK)
                block = znodes.read_producer_id_block(found.data)
                if block.broker_id == self._broker_id:
                    return range(block.first, block.last + 1)
        return await honest(self)

    ProducerIds._attempt = resuming  # type: ignore[method-assign]
