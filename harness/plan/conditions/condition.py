"""The base of all conditions that a step waits for. Each has a deadline; none waits a fixed time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import model_validator

from fencepost.harness.plan.base import After, Expect, Level, Milliseconds, Name, NodeRef, PlanModel
from fencepost.harness.plan.observed import Observed
from fencepost.harness.plan.words import check_phrase

if TYPE_CHECKING:
    from fencepost.harness.plan.model import Plan

LIVENESS_TIMEOUT_MS = 30_000
"""The timeout of liveness claims: far above what any machine needs, so that a missed bound does not show its speed."""


@dataclass(frozen=True)
class Evaluation:
    """A condition of one run, with its references resolved: the leader, for example, may change while the run waits.

    `holds` is asked whenever the observation changes. `seen` describes for a message what was observed in place of the
    awaited state; `found` is what was measured, for the journal. All may raise UnresolvedRole.
    """

    holds: Callable[[], bool]
    seen: Callable[[], str]
    found: Callable[[], Mapping[str, object]] = dict


class AwaitStep(PlanModel):
    """Wait until a condition holds, at most `within_ms`.

    With `expect: must` a missed deadline is a violation; with `never`, which has to give `within_ms`, it is a violation
    if the condition comes true before the deadline. Without `expect` a missed deadline makes the run inconclusive: the
    scenario did not happen.

    A condition is a subclass with the field `condition`, its name in plans, and a `phrase`.
    """

    phrase: ClassVar[str]
    """The condition as a clause, with its fields in braces: `{node} is active`."""
    uses_zookeeper: ClassVar[bool] = False
    """It reads what only a cluster with ZooKeeper has."""
    recheck_seconds: ClassVar[float | None] = None
    """Seconds between two evaluations while the observation does not change. None: those of the observer."""

    if TYPE_CHECKING:
        condition: str

    do: Literal["await"] = "await"
    as_: Name | None = None
    within_ms: Milliseconds = LIVENESS_TIMEOUT_MS
    after: After | None = None
    expect: Expect | None = None

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        if "condition" in cls.model_fields:
            check_phrase(cls, "condition", "what holds, as a clause")

    @model_validator(mode="after")
    def _watched_for_a_time(self) -> AwaitStep:
        if self.expect and self.expect.level is Level.NEVER and "within_ms" not in self.model_fields_set:
            raise ValueError("what must never come true is watched for a time: add `within_ms`")
        return self

    @property
    def clause(self) -> str:
        """The phrase for the values that this condition has."""
        return self.phrase

    @property
    def needs_controller(self) -> str | None:
        """The part of the condition that needs a controller, beside its references; None if there is none."""
        return None

    @property
    def ended(self) -> NodeRef | None:
        """The node that has ended once the condition holds, so that a step may start it again."""
        return None

    def problems(self, plan: Plan) -> Iterator[tuple[str, str]]:
        """Yield (key, message) for what is wrong with this condition in a plan, beside its references."""
        return iter(())

    @abstractmethod
    def evaluation(self, run: Observed, name: str) -> Evaluation:
        """Return how the condition is decided in a run; `name` is that of its step.

        Raise StepError if a reference resolves to no node.
        """
        raise NotImplementedError
