"""Perform each step. One that returns is done; StepError and FaultError end the scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost.harness.engine.conditions import await_condition
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import StepTimeout
from fencepost.harness.engine.injecting import inject
from fencepost.harness.engine.performed import PerformedRun
from fencepost.harness.engine.probes.prober import Prober
from fencepost.harness.plan.base import Level
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import Step

DONE: Mapping[str, Any] = {"outcome": "done"}


def perform(step: Step, name: str, context: Context, prober: Prober) -> Mapping[str, Any]:
    """Perform the step, and return the data of its end for the journal.

    `outcome` is `done`, or `missed` for a condition that stayed false.
    """
    match step:
        case InjectStep():
            return inject(step, name, context)
        case AwaitStep():
            return _await(step, name, context)
        case ProbeStep():
            prober.run(step, name)
            return DONE
    return {**DONE, **step.perform(PerformedRun(context), name)}


def _await(step: AwaitStep, name: str, context: Context) -> Mapping[str, Any]:
    wait = await_condition(step, name, context)
    if wait.came:
        return {**DONE, **wait.found}
    message = f"`{step.condition}` did not become true within {step.within_ms} ms: {wait.seen}"
    if step.expect is None or step.expect.level is Level.MUST:
        raise StepTimeout(message + (f"; measured: {dict(wait.found)}" if wait.found else ""))
    return {"outcome": "missed", "message": message, **wait.found}
