"""Start or stop clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fencepost.harness.plan.base import ClientRef, Name
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.steps.step import PlanStep


class Workload(PlanStep):
    """Start or stop producers and consumers of the workload."""

    phrase = "Change the workload"
    harmless = True
    do: Literal["workload"] = "workload"
    as_: Name | None = None
    action: Literal["start", "stop"]
    only: tuple[ClientRef, ...] = ()
    """Names of producers and consumers. Empty: all."""

    @property
    def clause(self) -> str:
        *first, last = self.only or ("the workload",)
        return f"{self.action.capitalize()} " + (f"{', '.join(first)} and {last}" if first else last)

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        if self.action == "start":
            run.start_clients(self.only)
        else:
            run.stop_clients(self.only)
        return {}
