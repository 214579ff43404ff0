"""Wait for a condition of a plan, as a step of its own or as the moment of a fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fencepost.harness.clients.observer import RECHECK
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import UnresolvedRole
from fencepost.harness.engine.observed import ObservedRun
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation


@dataclass(frozen=True)
class Wait:
    """The end of a wait: whether the condition came true, what was seen, and what was measured, for the journal."""

    came: bool
    seen: str
    found: Mapping[str, object]


def evaluation(step: AwaitStep, name: str, context: Context) -> Evaluation:
    """Return how a condition is decided in this run. Raise StepError if a reference resolves to no node."""
    return step.evaluation(ObservedRun(context), name)


def await_condition(step: AwaitStep, name: str, context: Context) -> Wait:
    """Wait for the condition, from now, or from the instant that `after` names if that is still to come."""
    clock = context.clock
    if step.after is not None:
        clock.sleep_until(clock.moment(step.after))
    condition = evaluation(step, name, context)
    deadline = time.monotonic() + step.within_ms / 1000
    recheck = RECHECK if step.recheck_seconds is None else step.recheck_seconds
    came = clock.wait(lambda: holds(condition.holds), deadline, recheck)
    return Wait(came, seen(condition), condition.found())


def holds(condition: Callable[[], bool]) -> bool:
    """Return whether a condition holds. One about something that does not exist (yet) does not hold."""
    try:
        return condition()
    except UnresolvedRole:
        return False


def seen(condition: Evaluation) -> str:
    """Describe the state that was observed, in place of the awaited one."""
    try:
        return condition.seen()
    except UnresolvedRole as error:
        return str(error)
