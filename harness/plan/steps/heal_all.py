"""Undo all faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fencepost.harness.plan.base import Name
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.step_error import StepError
from fencepost.harness.plan.steps.step import PlanStep


class HealAll(PlanStep):
    """Undo all active faults and prove that they are gone."""

    phrase = "Heal all faults"
    harmless = True
    do: Literal["heal-all"] = "heal-all"
    as_: Name | None = None

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        if failures := run.heal_all():
            raise StepError("; ".join(failures))
        return {}
