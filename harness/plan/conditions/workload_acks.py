"""Producers of the workload get on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.plan.base import ProducerRef
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class WorkloadAcks(AwaitStep):
    """At least `more` records were acknowledged to the workload since the step began."""

    phrase = "{more} more records are acknowledged"
    condition: Literal["workload-acks"] = "workload-acks"
    more: Annotated[int, Field(ge=1)] = 1
    producer: ProducerRef | None = None

    @property
    def clause(self) -> str:
        of = " of {producer}" if self.producer else ""
        return f"{{more}} more record{'s'[: self.more != 1]}{of} {'are' if self.more != 1 else 'is'} acknowledged"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        before = run.acknowledged(self.producer)

        def more() -> int:
            return run.acknowledged(self.producer) - before

        to = self.producer or "the producers"
        return Evaluation(
            lambda: more() >= self.more, lambda: f"{more()} of {self.more} records were acknowledged to {to}"
        )
