"""A node's checkpoint file has a high watermark."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef, Partition
from fencepost.harness.plan.conditions.bounds import Bounds
from fencepost.harness.plan.conditions.condition import Evaluation
from fencepost.harness.plan.observed import Observed


class Checkpoint(Bounds):
    """The high watermark in the node's own checkpoint file, whether it runs or not."""

    phrase = "the checkpoint of {node} has {partition} at {bounds}"
    reads_decisions = True
    reads_log_files = True
    condition: Literal["checkpoint"] = "checkpoint"
    node: NodeRef
    partition: Partition

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        offset = run.checkpoint(run.node(self.node), self.partition)
        return Evaluation(
            lambda: (read := offset()) is not None and self.allows(read),
            lambda: "another value was read, or none",
            lambda: offset.found,
        )
