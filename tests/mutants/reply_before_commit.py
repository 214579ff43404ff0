"""A controller that answers before the change is persisted (against KIP-631, Persistence and Visibility)."""

from __future__ import annotations

from cluster_impl.designs.quorum.controller.state import Outcome, Reply
from cluster_impl.designs.quorum.controller.term import Term


def apply() -> None:
    honest = Term.until_it_may_be_shown

    async def hasty(self: Term, outcome: Outcome[Reply]) -> None:
        if not outcome.records:
            await honest(self, outcome)

    Term.until_it_may_be_shown = hasty  # type: ignore[method-assign]
