"""Copy the log directories of a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fencepost.harness.plan.base import Name, NodeRef
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.steps.step import PlanStep


class Backup(PlanStep):
    """Copy a node's log directories while SIGSTOP stops its process. The fault `restored` puts the copy back."""

    phrase = "Copy the log directories of {node}"
    do: Literal["backup"] = "backup"
    as_: Name
    node: NodeRef

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        node = run.node(self.node)
        return {"node": node, "copy": run.back_up(node, self.as_)}
