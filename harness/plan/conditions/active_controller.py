"""A certain controller, or another one, is active."""

from __future__ import annotations

from typing import Literal

from fencepost.harness.plan.base import NodeRef, NodeRefs
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class ActiveController(AwaitStep):
    """The controller that reports itself as the leader, at the highest epoch that any controller reports."""

    phrase = "a controller is active"
    condition: Literal["active-controller"] = "active-controller"
    is_: NodeRef | None = None
    is_not: NodeRefs | None = None

    @property
    def clause(self) -> str:
        if self.is_ is not None:
            return "{is} is the active controller"
        return self.phrase if self.is_not is None else "another node than {is_not} is the active controller"

    @property
    def needs_controller(self) -> str:
        return f"`{self.condition}`"

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        wanted = run.node(self.is_) if self.is_ else None
        unwanted = run.nodes(self.is_not)

        def holds() -> bool:
            active = run.active_controller()
            return active not in unwanted and wanted in (None, active)

        return Evaluation(holds, run.controllers_in_words)
