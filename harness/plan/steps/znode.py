"""Change ZooKeeper's tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fencepost.harness.plan.base import Name, ZnodePath
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.step_error import StepError
from fencepost.harness.plan.steps.step import PlanStep


class ZnodeStep(PlanStep):
    """Change ZooKeeper's tree directly, without a node, as an administrator's tool does."""

    phrase = "Change {path} in ZooKeeper"
    do: Literal["znode"] = "znode"
    as_: Name | None = None
    action: Literal["create", "set", "delete"]
    path: ZnodePath
    data: str = ""
    sequence: bool = False
    """Let ZooKeeper append a number to the path (`create` only)."""
    may_fail: bool = False
    """Go on if no server takes the change in time, or if ZooKeeper refuses it, for example an existing path."""

    @property
    def clause(self) -> str:
        return self.phrase.replace("Change", self.action.capitalize(), 1)

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        try:
            return {"path": run.change_znode(self.action, self.path, self.data, sequence=self.sequence)}
        except StepError as error:
            if not self.may_fail:
                raise
            return {"path": self.path, "message": str(error)}
