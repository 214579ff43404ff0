"""The base of conditions on a number."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from fencepost.harness.plan.conditions.condition import AwaitStep


class Bounds(AwaitStep):
    """A number that is equal to `is`, or from `at_least` to `at_most`; the phrase has it as `{bounds}`."""

    is_: Annotated[int, Field(ge=0)] | None = None
    at_least: Annotated[int, Field(ge=0)] | None = None
    at_most: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _some_bound(self) -> Bounds:
        if self.is_ is self.at_least is self.at_most is None:
            raise ValueError("no bound is given: add `is`, `at_least` or `at_most`")
        return self

    @property
    def bounds(self) -> str:
        """The bounds in words, with their fields in braces."""
        bounds = {"{is}": self.is_, "{at_least} or more": self.at_least, "{at_most} or less": self.at_most}
        return " and ".join(words for words, bound in bounds.items() if bound is not None)

    @property
    def clause(self) -> str:
        return self.phrase.replace("{bounds}", self.bounds)

    def allows(self, number: int) -> bool:
        """Return whether the number satisfies every bound that is given."""
        return (
            self.is_ in (None, number)
            and (self.at_least is None or number >= self.at_least)
            and (self.at_most is None or number <= self.at_most)
        )
