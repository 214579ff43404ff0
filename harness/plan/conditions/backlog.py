"""State changes wait in a broker's queue."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef
from fencepost.harness.plan.conditions.bounds import Bounds
from fencepost.harness.plan.conditions.condition import Evaluation
from fencepost.harness.plan.observed import Observed


class Backlog(Bounds):
    """The number of requests in the node's queue of state changes in ZooKeeper."""

    phrase = "the queue of {node} holds {bounds} requests"
    uses_zookeeper = True
    condition: Literal["backlog"] = "backlog"
    node: NodeRef

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node = run.node(self.node)
        return Evaluation(
            lambda: self.allows(run.queued(node)), lambda: f"{run.queued(node)} requests wait in the queue of {node}"
        )
