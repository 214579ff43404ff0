"""The base of the steps that are neither a fault, nor a condition, nor a request."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from fencepost.harness.plan.performed import Performed
from fencepost.harness.plan.words import Word

if TYPE_CHECKING:
    from fencepost.harness.plan.base import Name


class PlanStep(Word):
    """A step that the engine performs in its turn.

    A step is a subclass with the field `do`, its name in plans, and a `phrase`: an imperative.
    """

    named_by: ClassVar[str] = "do"
    called: ClassVar[str] = "step"

    if TYPE_CHECKING:
        do: str
        as_: Name | None

    @abstractmethod
    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        """Perform the step called `name`, and return what the journal gets of its end.

        Raise StepError if it cannot be done, so that the rest of the scenario proves nothing.
        """
        raise NotImplementedError
