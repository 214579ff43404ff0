"""A partition's leader epoch rose."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import Partition, Value
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class LeaderEpochAbove(AwaitStep):
    """The partition's leader epoch is above `value`."""

    phrase = "the leader epoch of {partition} is above {value}"
    condition: Literal["leader-epoch-above"] = "leader-epoch-above"
    partition: Partition
    value: Value

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        before = run.leader_epoch(self.value, self.partition)
        return Evaluation(
            lambda: run.partition(self.partition).leader_epoch > before, lambda: str(run.partition(self.partition))
        )
