"""A node is connected to another one."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class Connected(AwaitStep):
    """The process has an open connection to `to` through its link. Only this shows which brokers it fetches from."""

    phrase = "{node} is connected to {to}"
    condition: Literal["connected"] = "connected"
    node: NodeRef
    to: NodeRef

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node, peer = run.node(self.node), run.node(self.to)
        return Evaluation(
            lambda: peer in run.processes.peers(node),
            lambda: f"{node} is connected to {', '.join(sorted(run.processes.peers(node))) or 'no node'}",
        )
