"""A partition is assigned to certain brokers."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRefs, Partition
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class AssignmentIs(AwaitStep):
    """The partition's replicas in this order, the preferred leader first, and no reassignment under way."""

    phrase = "the replicas of {partition} are {is}"
    condition: Literal["assignment"] = "assignment"
    partition: Partition
    is_: NodeRefs

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        wanted = tuple(run.id(node) for node in run.nodes(self.is_))

        def holds() -> bool:
            decided = run.partition(self.partition)
            return decided.replicas == wanted and not decided.adding and not decided.removing

        def seen() -> str:
            decided = run.partition(self.partition)
            moving = f", adding {list(decided.adding)}, removing {list(decided.removing)}"
            assigned = f"{self.partition} is assigned to {list(decided.replicas)}"
            return assigned + moving * bool(decided.adding or decided.removing)

        return Evaluation(holds, seen)
