"""All voters of the metadata quorum have what its leader has."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class VotersCaughtUp(AwaitStep):
    """Each voter of the metadata quorum fetched since the step began, and has all that the leader had then."""

    phrase = "all voters have what the active controller has"
    reads_decisions = True
    condition: Literal["voters-caught-up"] = "voters-caught-up"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        progress = run.voter_progress()
        return Evaluation(progress, lambda: progress.seen or "it became true just then")
