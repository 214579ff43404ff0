"""End nodes as an operator does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal

from fencepost.harness.plan.base import Milliseconds, Name, NodeRefs
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.step_error import StepTimeout
from fencepost.harness.plan.steps.step import PlanStep


class Shutdown(PlanStep):
    """End nodes by SIGTERM, as an operator does. A `start` step starts them again."""

    phrase = "Shut down {nodes}"
    do: Literal["shutdown"] = "shutdown"
    as_: Name | None = None
    nodes: NodeRefs
    within_ms: Milliseconds = 30_000
    until: Literal["asked", "ended"] = "ended"
    """`asked`: continue at once, and await `node-exited` if the exit itself is a claim; `ended`: continue once the
    process is gone, which has to be within `within_ms`."""

    @property
    def ended(self) -> NodeRefs:
        return self.nodes

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        nodes = run.nodes(self.nodes)
        deadline = time.monotonic() + self.within_ms / 1000
        for node in nodes:
            run.processes.shut_down(node)
        if self.until == "ended":
            for node in nodes:
                if not run.processes.await_end(node, max(0.0, deadline - time.monotonic())):
                    raise StepTimeout(f"{node} did not end within {self.within_ms} ms of SIGTERM")
        return {"nodes": list(nodes)}
