"""A process ended."""

from __future__ import annotations

from typing import Literal

from fencepost.faults.capabilities import Running
from fencepost.harness.plan.base import NodeRef
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class NodeExited(AwaitStep):
    """The process ended; if `code` is given, with this exit code."""

    phrase = "the process of {node} has ended"
    condition: Literal["node-exited"] = "node-exited"
    node: NodeRef
    code: int | None = None

    @property
    def clause(self) -> str:
        return self.phrase if self.code is None else self.phrase + " with exit code {code}"

    @property
    def ended(self) -> NodeRef:
        return self.node

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node, processes = run.node(self.node), run.processes

        def holds() -> bool:
            status = processes.status(node)
            return status.running is Running.EXITED and self.code in (None, status.exit_code)

        def seen() -> str:
            status = processes.status(node)
            ended = f" with code {status.exit_code}, in place of {self.code}" if status.exit_code is not None else ""
            return f"{node} is {status.running.value}{ended}"

        # The journal gets the name, so that the end of this node, whenever it comes, is known to be expected.
        return Evaluation(holds, seen, lambda: {"node": node})
