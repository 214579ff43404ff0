"""A node's log ends at an offset."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef, Partition
from fencepost.harness.plan.conditions.bounds import Bounds
from fencepost.harness.plan.conditions.condition import Evaluation
from fencepost.harness.plan.observed import Observed


class LogEnd(Bounds):
    """The offset after the last complete batch in the node's own segment files, whether it runs or not."""

    phrase = "the log of {partition} on {node} ends at {bounds}"
    reads_decisions = True
    reads_log_files = True
    condition: Literal["log-end"] = "log-end"
    node: NodeRef
    partition: Partition

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        offset = run.log_end(run.node(self.node), self.partition)
        return Evaluation(
            lambda: (read := offset()) is not None and self.allows(read),
            lambda: "another value was read, or none",
            lambda: offset.found,
        )
