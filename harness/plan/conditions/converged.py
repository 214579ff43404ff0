"""The cluster is whole."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class Converged(AwaitStep):
    """Every running broker is active, one controller is active, and all partitions have a leader and a full ISR.

    The responses of the brokers agree with the metadata log.
    """

    phrase = "all nodes agree and all replicas are in sync"
    condition: Literal["converged"] = "converged"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        convergence = run.convergence()
        return Evaluation(convergence, lambda: convergence.seen or "it became true just then")
