"""What every inject step has."""

from __future__ import annotations

from typing import Literal

from harness.plan.base import Name, PlanModel


class InjectStep(PlanModel):
    do: Literal["inject"] = "inject"
    as_: Name
