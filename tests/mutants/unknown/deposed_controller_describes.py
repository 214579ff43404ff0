"""A controller that describes entries and reassignments without confirming that it is active (against KIP-631,
Persistence and Visibility; D631-03 says so of renewals).

Cut off from the others, it shows what their new active controller has changed since.
"""

from __future__ import annotations

from typing import Any

from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult
from fencepost.cluster_impl.designs.quorum.controller.term import ActiveControllerTerm
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-16", "ADM-03"),
    scenarios=(),
    unit="tests/mutants/unknown/test_minority.py::test_a_controller_without_a_majority_describes_nothing",
    kind=Kind.MINORITY,
)


def apply() -> None:
    honest = ActiveControllerTerm.until_reply_may_be_sent

    async def unconfirmed(self: ActiveControllerTerm, outcome: ControllerResult[Any]) -> None:
        if not isinstance(outcome.reply, m.DescribeAclsResponse | m.ListPartitionReassignmentsResponse):
            await honest(self, outcome)

    ActiveControllerTerm.until_reply_may_be_sent = unconfirmed  # type: ignore[method-assign]
