"""A broker that is asked to end hands over what it leads, and then ends with an error (against LIVE-07)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.broker.node import BrokerNode
from fencepost.cluster_impl.failures import NodeFailure
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("LIVE-07",),
    scenarios=("controlled-shutdown",),
    unit="tests/cluster_impl/designs/quorum/broker",
)

_stop = BrokerNode.stop


def apply() -> None:
    BrokerNode.stop = _stop_and_fail  # type: ignore[method-assign]


async def _stop_and_fail(self: BrokerNode) -> None:
    await _stop(self)
    raise NodeFailure("a part of the broker that was stopped already failed to stop")
