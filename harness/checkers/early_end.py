"""The end of a run whose verdict was certain before all its steps were tried: what its journal says of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.results.records.events import ENDED_EARLY
from fencepost.results.records.journal import Journal


@dataclass(frozen=True)
class EarlyEnd:
    """The step whose claim was broken, and the steps after it, which were not tried: their claims are not judged."""

    at: float
    step: str
    untried: Sequence[str]

    @property
    def reason(self) -> str:
        return f"the run was ended early, as the claim of `{self.step}` was broken"


def early_end(journal: Journal) -> EarlyEnd | None:
    """Return the early end of a run; None if it was not ended so."""
    for event in journal.of("note"):
        if event.data.get("what") == ENDED_EARLY:
            return EarlyEnd(event.t, event.data["step"], tuple(event.data["untried"]))
    return None
