"""An administrator is served by all brokers."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class AdministratorServed(AwaitStep):
    """Through each running broker a new topic is created, described, written to and deleted, until it is gone there.

    Each request is repeated until it succeeds.
    """

    phrase = "each broker serves an administrator"
    sends = ("create_topics", "metadata", "produce", "delete_topics")
    condition: Literal["administrator-served"] = "administrator-served"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        administration = run.administration(name)
        return Evaluation(administration, lambda: "some brokers left a request undone", lambda: administration.found)
