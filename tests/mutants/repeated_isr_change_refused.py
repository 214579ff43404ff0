"""A controller that refuses an ISR change which it has made already (KAFKA-14144; against D343-09)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.controller.brokers import isr_change
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.isr_change import IsrChangeGuard, IsrChangeProposal
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14144",
    designs=(ZK,),
    rules=("D343-09",),
    scenarios=("isr-change-reply-lost",),
    unit="tests/cluster_impl/designs/zk_controller/controller",
)


def apply() -> None:
    repeated = IsrChangeGuard(Error.INVALID_REQUEST, _is_done, "the ISR is not changed by this request")
    isr_change.ISR_CHANGE_GUARDS = (*isr_change.ISR_CHANGE_GUARDS, repeated)  # type: ignore[assignment]


def _is_done(proposal: IsrChangeProposal) -> bool:
    return set(proposal.requested.isr_nodes) == set(proposal.known.isr)
