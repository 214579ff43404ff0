"""A node's log has a line."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from fencepost.harness.plan.base import NodeRef, Pattern
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed

LOOK_EVERY = 0.001
"""Seconds between two reads of a log, so that a fault takes effect within milliseconds of a line."""


class Logged(AwaitStep):
    """The node's own log has a line that matches the regular expression `says`.

    With `after` the line has to be written later than that instant; without, it may be as old as the run.
    """

    phrase = "{node} logs “{says}”"
    recheck_seconds = LOOK_EVERY
    condition: Literal["logged"] = "logged"
    node: NodeRef
    says: Pattern

    @model_validator(mode="after")
    def _from_an_instant(self) -> Logged:
        if self.after is not None and self.after.plus_ms:
            raise ValueError("the length of a log is recorded at instants only, not between them: drop `plus_ms`")
        return self

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node = run.node(self.node)
        search = run.log_search(node, self.says, self.after.event if self.after else None)
        return Evaluation(search, lambda: f"no line of {node}'s log has {self.says!r}", lambda: search.found)
