"""A look at everything that the nodes describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fencepost.harness.plan.base import Name
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.steps.step import PlanStep


class Describe(PlanStep):
    """Ask every running node for all that it describes, and hold it against what the requests so far must have led to.

    Nodes have a few seconds to come to it. Each run does it before its first step and once it is whole at its end.
    """

    phrase = "Compare all that the nodes describe with what was asked for"
    harmless = True
    do: Literal["describe"] = "describe"
    as_: Name

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        return run.describe(name)
