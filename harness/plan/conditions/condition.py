"""The base of all conditions that a step waits for. Each has a deadline; none waits a fixed time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import model_validator

from fencepost.harness.plan.base import After, Expect, Level, Milliseconds, Name
from fencepost.harness.plan.observed import Observed
from fencepost.harness.plan.words import Word

LIVENESS_TIMEOUT_MS = 30_000
"""The timeout of liveness claims: far above what any machine needs, so that a missed bound does not show its speed."""


@dataclass(frozen=True)
class Evaluation:
    """A condition of one run, with its references resolved: the leader, for example, may change while the run waits.

    `holds` is asked whenever the observation changes. `seen` describes for a message what was observed in place of the
    awaited state; both may raise UnresolvedRole. `found` is what was measured, for the journal.
    """

    holds: Callable[[], bool]
    seen: Callable[[], str]
    found: Callable[[], Mapping[str, object]] = dict


class AwaitStep(Word):
    """Wait until a condition holds, at most `within_ms`.

    With `expect: must` a missed deadline is a violation; with `never`, which has to give `within_ms`, it is a violation
    if the condition comes true before the deadline. Without `expect` a missed deadline makes the run inconclusive: the
    scenario did not happen.

    A condition is a subclass with the field `condition`, its name in plans, and a `phrase`: a clause.
    """

    named_by: ClassVar[str] = "condition"
    called: ClassVar[str] = "condition"
    harmless: ClassVar[bool] = True
    uses_zookeeper: ClassVar[bool] = False
    """It reads what only a cluster with ZooKeeper has."""
    reads_decisions: ClassVar[bool] = False
    """It reads what was decided, or files that brokers write as Kafka does: clients do not see these."""
    reads_log_files: ClassVar[bool] = False
    """It reads segment files and checkpoints of brokers."""
    recheck_seconds: ClassVar[float | None] = None
    """Seconds between two evaluations while the observation does not change. None: those of the observer."""

    if TYPE_CHECKING:
        condition: str

    do: Literal["await"] = "await"
    as_: Name | None = None
    within_ms: Milliseconds = LIVENESS_TIMEOUT_MS
    after: After | None = None
    expect: Expect | None = None

    @model_validator(mode="after")
    def _watched_for_a_time(self) -> AwaitStep:
        if self.expect and self.expect.level is Level.NEVER and "within_ms" not in self.model_fields_set:
            raise ValueError("what must never come true is watched for a time: add `within_ms`")
        return self

    @abstractmethod
    def evaluation(self, run: Observed, name: str) -> Evaluation:
        """Return how the condition is decided in a run; `name` is that of its step.

        Raise StepError if a reference resolves to no node.
        """
        raise NotImplementedError
