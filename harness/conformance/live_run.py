"""A run whose steps come one by one from the code of a test, and are written into its plan as they come.

Journal, end, judgement and report are those of a scenario, and the plan that the run leaves can be replayed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fencepost.faults.registry import FAULTS
from fencepost.harness.checkers.owed import every_run
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.disk_space import disk_space_errors
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import FaultError, StepError
from fencepost.harness.engine.execute import executing
from fencepost.harness.engine.manifest import add_plan
from fencepost.harness.engine.run import NoProgress, Recording, RunInterrupt, check, identified, recorded, started
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Acknowledged, Coverage, FaultProven, Plan, StepDone, WorkloadSpec
from fencepost.harness.plan.saved import save_plan
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.heal_all import HealAll
from fencepost.harness.plan.steps.workload import Workload
from fencepost.harness.targets.fitting import check_design, check_roles
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import RunVerdict


class StepFailed(Exception):
    """A step of the test could not be done. It is part of the run's verdict: do not catch it."""


class LiveRun:
    """One run, from the start of its cluster to its verdict."""

    def __init__(self, plan: Plan, runs: Path, backend: str) -> None:
        """Start the cluster. Raise PlanError or UsageError before anything exists.

        If the cluster does not start, `started` is False, and `finish` gives the verdict.
        """
        self.backend = backend
        self.failed = False
        """True once a step could not be done: only the end of the run is left."""
        if plan.steps:
            raise UsageError("the plan of a test has steps already: its steps are the calls of the test")
        self.plan, self.target = plan, _ = check(plan, runs, backend)
        with ExitStack() as stack:
            stack.enter_context(disk_space_errors(runs))
            self._recording: Recording = stack.enter_context(recorded(plan, runs, self.target, backend))
            cluster = stack.enter_context(Cluster(plan, self.folder, self._recording.journal, self.target, backend))
            stack.enter_context(identified(cluster, cluster.folder))
            self.context: Context = stack.enter_context(started(cluster))
            self._execution = stack.enter_context(executing(self.context, NoProgress()))
            self._stack: ExitStack | None = stack.pop_all()
            return
        self._stack = None  # an error, which is journalled

    @property
    def started(self) -> bool:
        return self._stack is not None

    @property
    def folder(self) -> RunFolder:
        return self._recording.folder

    def perform(self, step: Step) -> Mapping[str, Any]:
        """Write a step into the plan, perform it, and return the data of its end as the journal has it.

        Raise UsageError for a step that no plan may have here, StepFailed if it cannot be done.
        """
        __tracebackhide__ = True
        if self.failed:
            raise StepFailed("an earlier step failed, so this one was not begun")
        self._add(step)
        number = len(self.plan.steps)
        name = self.plan.step_name(number - 1)
        try:
            return self._execution.perform(step, name, number)
        except (StepError, FaultError, InfrastructureError) as error:
            self.failed = True
            failure = StepFailed(f"{name}: {error}")
        raise failure

    def finish(self, *, interrupted: bool = False) -> tuple[RunFolder, RunVerdict]:
        """End the run, judge it and write its report. Raise RunInterrupt if it is interrupted meanwhile.

        `interrupted`: the test did not come to its end. Nothing is healed or read then, and the run proves nothing.
        """
        stack, self._stack = self._stack, None
        if stack is not None:
            with stack:
                if interrupted:
                    raise InfrastructureError("the test was interrupted, so the run did not come to its end")
                self._close()
                self._execution.end()
        self._save(self._complete())
        verdict = self._recording.judge(self.plan)
        if self._recording.interrupted:
            raise RunInterrupt(self.folder, verdict)
        return self.folder, verdict

    def _add(self, step: Step) -> None:
        plan = self.plan.model_copy(update={"steps": (*self.plan.steps, step)})
        known = problems(self.plan)
        if wrong := [each.message for each in problems(plan) if each not in known]:
            raise UsageError("; ".join(wrong))
        self.target.file.check_levels(plan)
        check_roles(self.target.file, plan)
        check_design(self.target.file, plan)
        if isinstance(step, InjectStep):
            self._check_capability(step)
        self._save(plan)

    def _check_capability(self, step: InjectStep) -> None:
        capability = FAULTS[step.fault].capability
        if reason := unavailable_reason(self.backend, capability):
            raise UsageError(f"the fault {step.fault} is not possible here: {reason}")

    def _save(self, plan: Plan) -> None:
        """Write the plan, and its hash into the manifest: a step is written before it is performed."""
        self.plan = plan
        save_plan(self.folder, plan)
        add_plan(self.folder, plan)

    def _close(self) -> None:
        """Heal all faults, and expect that the cluster becomes whole and the workload goes on."""
        working = self._works()
        steps: list[Step] = []
        if self.context.active_faults.by_name:
            steps.append(HealAll(as_="end-heal"))
        steps.append(Converged(as_="end-whole", expect=_must("LIVE-01")))
        if working:
            steps += [
                WorkloadAcks(as_="end-progress", more=20, expect=_must("LIVE-03")),
                Workload(as_="end-work", action="stop"),
            ]
        for step in steps:
            if not self.failed:
                try:
                    self.perform(step)
                except StepFailed:
                    return  # it is journalled, and judged

    def _works(self) -> bool:
        """Return whether a producer of the workload runs."""
        producers = {each.name for each in self.plan.workload.producers}
        running: set[str] = set()
        for step in self.plan.steps:
            if isinstance(step, Workload):
                named = producers & set(step.only) if step.only else producers
                running = running | named if step.action == "start" else running - named
        return bool(running)

    def _complete(self) -> Plan:
        """Return the plan with what its steps claim, and what its verdict needs. A workload that never ran is gone."""
        steps = self.plan.steps
        worked = any(isinstance(step, Workload) and step.action == "start" for step in steps)
        changes: dict[str, Any] = {"requirements": self._requirements(), "coverage": tuple(self._coverage(worked))}
        if not worked:
            changes["workload"] = WorkloadSpec()
        return self.plan.model_copy(update=changes)

    def _coverage(self, worked: bool) -> Iterator[Coverage]:
        names = [self.plan.step_name(place) for place in range(len(self.plan.steps))]
        for name, step in zip(names, self.plan.steps, strict=True):
            if isinstance(step, InjectStep):
                yield FaultProven(fault=name)
        if worked:
            yield Acknowledged()
        if names:
            yield StepDone(step=names[-1])

    def _requirements(self) -> tuple[str, ...]:
        expectations = (getattr(step, "expect", None) for step in self.plan.steps)
        claimed = [each.requirement for each in expectations if each is not None]
        return tuple(dict.fromkeys((*claimed, *every_run(self.target.file.dialect))))


def _must(requirement: str) -> Expect:
    return Expect(level=Level.MUST, requirement=requirement)


def in_words(error: ValidationError) -> str:
    """Return what is wrong with the values of a step or a plan, with the nearest right one where there is one."""
    return "; ".join(dict.fromkeys(_mistake(detail) for detail in error.errors()))


def _mistake(detail: ErrorDetails) -> str:
    place, context = detail["loc"], detail.get("ctx", {})
    match detail["type"]:
        case "unknown_key":
            return f"unknown key `{context['key']}`; {context['hint']}"
        case "union_tag_invalid":
            tags = re.findall(r"'([^']*)'", context["expected_tags"])
            near = difflib.get_close_matches(context["tag"], tags, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(tags)}"
            key = context["discriminator"].strip("'")
            return f"{key} {context['tag']!r} is unknown: {hint}"
        case "missing":
            return f"`{place[-1]}` is missing"
    name = f"`{'.'.join(map(str, place))}`: " if place else ""
    return f"{name}{detail['msg']}, not {detail['input']!r}"
