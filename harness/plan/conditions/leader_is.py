"""A certain replica, or another one, leads a partition."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRefOrNone, NodeRefs, Partition
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class LeaderIs(AwaitStep):
    """The partition's leader in the metadata log. Without `is` and `is_not`: any leader; `is: none`: no leader."""

    phrase = "{partition} has a leader"
    condition: Literal["leader"] = "leader"
    partition: Partition
    is_: NodeRefOrNone | None = None
    is_not: NodeRefs | None = None

    @property
    def clause(self) -> str:
        if self.is_ == "none":
            return "{partition} has no leader"
        if self.is_ is not None:
            return "{is} leads {partition}"
        return self.phrase if self.is_not is None else "another node than {is_not} leads {partition}"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        wanted = -1 if self.is_ == "none" else run.id(self.is_) if self.is_ else None
        unwanted = run.ids(self.is_not)

        def holds() -> bool:
            leader = run.partition(self.partition).leader
            return leader == wanted if wanted is not None else leader >= 0 and leader not in unwanted

        return Evaluation(holds, lambda: str(run.partition(self.partition)))
