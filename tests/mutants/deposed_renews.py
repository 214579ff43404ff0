"""A controller that renews leases without asking whether it is active still (against the decision: deposed)."""

from __future__ import annotations

from cluster_impl.designs.quorum.controller.state import Outcome, Reply
from cluster_impl.designs.quorum.controller.term import Term


def apply() -> None:
    honest = Term.until_it_may_be_shown

    async def trusting(self: Term, outcome: Outcome[Reply]) -> None:
        if outcome.records:
            await honest(self, outcome)

    Term.until_it_may_be_shown = trusting  # type: ignore[method-assign]
