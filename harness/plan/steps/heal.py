"""Undo one fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fencepost.harness.plan.base import Name
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.steps.step import PlanStep


class Heal(PlanStep):
    """Undo one fault and prove that it is gone."""

    phrase = "Heal `{fault}`"
    harmless = True
    do: Literal["heal"] = "heal"
    as_: Name | None = None
    fault: str
    """The name of its inject step."""

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        run.heal(self.fault)
        return {}
