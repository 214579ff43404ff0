"""Certain replicas are in the ISR, or not."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRefs, Partition
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class IsrIs(AwaitStep):
    """The ISR of the partition. All of `is`, `has` and `lacks` that are given hold at once."""

    phrase = "the ISR of {partition} "
    condition: Literal["isr"] = "isr"
    partition: Partition
    has: NodeRefs | None = None
    lacks: NodeRefs | None = None
    is_: NodeRefs | None = None

    @property
    def clause(self) -> str:
        parts = {"is {is}": self.is_, "has {has}": self.has, "lacks {lacks}": self.lacks}
        return self.phrase + " and ".join(words for words, given in parts.items() if given is not None)

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        has, lacks, exactly = (run.ids(refs) for refs in (self.has, self.lacks, self.is_))

        def holds() -> bool:
            isr = set(run.partition(self.partition).isr)
            return isr >= has and not isr & lacks and (self.is_ is None or isr == exactly)

        return Evaluation(holds, lambda: str(run.partition(self.partition)))
