"""Wait for a time that the document states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fencepost.harness.plan.base import After, Instant, Milliseconds, Name
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.steps.step import PlanStep

_MOMENTS = {
    "begun": "began",
    "injected": "was injected",
    "proven": "was proven",
    "healed": "was healed",
    "ended": "ended",
}


class Hold(PlanStep):
    """Wait until `ms` after an instant, for a deadline that the document states as a duration."""

    phrase = "Wait until {ms} ms after {after}"
    harmless = True
    do: Literal["hold"] = "hold"
    as_: Name | None = None
    after: Instant
    ms: Milliseconds

    @property
    def clause(self) -> str:
        name, _, moment = self.after.rpartition(".")
        return f"Wait until {self.ms / 1000:g} s after `{name}` {_MOMENTS[moment]}"

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        run.sleep_until(After(event=self.after, plus_ms=self.ms))
        return {}
