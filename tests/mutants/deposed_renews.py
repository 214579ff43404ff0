"""A controller that renews leases without confirming that it is still active (against decision D631-03)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, Reply
from fencepost.cluster_impl.designs.quorum.controller.term import ActiveControllerTerm
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-03",),
    scenarios=("isolated-controller", "active-controller-paused"),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_controller.py::"
        "test_a_renewal_waits_for_a_majority_asked_after_it_arrived"
    ),
)


def apply() -> None:
    honest = ActiveControllerTerm.until_reply_may_be_sent

    async def trusting(self: ActiveControllerTerm, outcome: ControllerResult[Reply]) -> None:
        if outcome.records:
            await honest(self, outcome)

    ActiveControllerTerm.until_reply_may_be_sent = trusting  # type: ignore[method-assign]
