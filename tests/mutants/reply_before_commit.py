"""A controller that answers before the change is persisted (against KIP-631, Persistence and Visibility)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, Reply
from fencepost.cluster_impl.designs.quorum.controller.term import ActiveControllerTerm
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-17", "K631-16"),
    scenarios=("isolated-controller", "quorum-lost"),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_controller.py::"
        "test_a_granted_epoch_is_not_shown_before_its_record_is_committed"
    ),
)


def apply() -> None:
    honest = ActiveControllerTerm.until_reply_may_be_sent

    async def hasty(self: ActiveControllerTerm, outcome: ControllerResult[Reply]) -> None:
        if not outcome.records:
            await honest(self, outcome)

    ActiveControllerTerm.until_reply_may_be_sent = hasty  # type: ignore[method-assign]
