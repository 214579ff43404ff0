"""The ISR shrank."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import Partition
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class IsrShrunk(AwaitStep):
    """Fewer replicas are in sync than are assigned, no matter which left the ISR."""

    phrase = "a replica has left the ISR of {partition}"
    condition: Literal["isr-shrunk"] = "isr-shrunk"
    partition: Partition

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        def holds() -> bool:
            decided = run.partition(self.partition)
            return not set(decided.isr) >= set(decided.replicas)

        return Evaluation(holds, lambda: str(run.partition(self.partition)))
