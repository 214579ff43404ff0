"""Consumers of the workload get on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.plan.base import ConsumerRef, GroupRef
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class WorkloadReads(AwaitStep):
    """Consumers of the workload got at least `more` records since the step began, or since the workload did.

    A consumer at read_committed gets on only if the last stable offset moves, a member of a group only if the group
    has assigned partitions to it.
    """

    phrase = "the consumers read {more} more records"
    condition: Literal["workload-reads"] = "workload-reads"
    more: Annotated[int, Field(ge=1)] = 1
    consumer: ConsumerRef | None = None
    group: GroupRef | None = None
    """The members of this group together."""
    since: Literal["step", "start"] = "step"
    """`start`: count from the first record, where few follow, and some may be read before the step begins."""

    @property
    def clause(self) -> str:
        by = "{consumer}" if self.consumer else "the group {group}" if self.group else "the consumers"
        records = f"record{'s'[: self.more != 1]}"
        return f"{by} read {{more}} " + (f"more {records}" if self.since == "step" else f"{records} in all")

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        before = 0 if self.since == "start" else run.read(self.consumer, self.group)

        def more() -> int:
            return run.read(self.consumer, self.group) - before

        by = self.consumer or self.group or "the consumers"
        return Evaluation(lambda: more() >= self.more, lambda: f"{more()} of {self.more} records were read by {by}")
