"""Start nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fencepost.harness.plan.base import Name, NodeRefs
from fencepost.harness.plan.performed import READY_WITHIN, Performed
from fencepost.harness.plan.steps.step import PlanStep


class Start(PlanStep):
    """Start nodes that have `start: later`, were shut down, or exited by themselves."""

    phrase = "Start {nodes}"
    do: Literal["start"] = "start"
    as_: Name | None = None
    nodes: NodeRefs
    until: Literal["running", "ready"] = "ready"
    """`running`: continue once the process runs, also if it cannot answer; `ready`: once it answers requests."""

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        nodes = run.nodes(self.nodes)
        for node in nodes:
            run.processes.start(node)
        if self.until == "ready":
            for node in nodes:
                run.processes.await_ready(node, READY_WITHIN)
        return {"nodes": list(nodes)}
