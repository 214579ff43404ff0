"""Give a node or a value a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fencepost.harness.plan.base import Name, NodeRef
from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.steps.step import PlanStep


class Bind(PlanStep):
    """Resolve a role or read a value once. In later steps `$name` stands for the result.

    Values: `leader-epoch:t-0`, `isr-version:t-0`, `broker-epoch:node-4`, `controller-epoch`.
    """

    phrase = "Note {node} as `{as}`"
    harmless = True
    do: Literal["bind"] = "bind"
    as_: Name
    node: NodeRef | None = None
    value: Annotated[str, Field(pattern=r"^((leader-epoch|isr-version|broker-epoch):.+|controller-epoch)$")] | None = (
        None
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Bind:
        if (self.node is None) == (self.value is None):
            raise ValueError("a bind step has either `node` or `value`, and not both")
        return self

    @property
    def clause(self) -> str:
        if self.value is None:
            return self.phrase
        what, _, of = self.value.partition(":")
        return self.phrase.replace("{node}", f"the {what.replace('-', ' ')}" + (f" of {of}" if of else ""))

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        bound = run.node(self.node) if self.node is not None else self._number(run)
        run.bind(name, bound)
        return {"bound": bound}

    def _number(self, run: Performed) -> int:
        what, _, of = (self.value or "").partition(":")
        match what:
            case "leader-epoch":
                return run.leader_epoch("current", of)
            case "isr-version":
                return run.isr_version("current", of)
            case "broker-epoch":
                return run.broker_epoch("current", run.node(of))
            case _:
                return run.controller_epoch("current")
