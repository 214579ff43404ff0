"""One scenario in a test: from the plan to the verdict."""

from __future__ import annotations

from typing import NoReturn

import pytest

from fencepost.harness.conformance import allure_report
from fencepost.harness.conformance.options import SessionOptions
from fencepost.harness.conformance.outcome import NotBegun, raise_unless_passed
from fencepost.harness.conformance.results import SCENARIO_PROPERTY
from fencepost.harness.conformance.run_properties import run_properties
from fencepost.harness.engine.run import RunInterrupt, run
from fencepost.harness.errors import HarnessError
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.prose import steps_in_words
from fencepost.harness.targets.registry import load_file
from fencepost.harness.targets.securing import impossible, security_for, with_security
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.progress import Phase, Progress
from fencepost.results.records.verdict import RunVerdict, Verdict


class Session:
    """The fixture `fencepost` of a test."""

    def __init__(self, options: SessionOptions, properties: list[tuple[str, object]]) -> None:
        self.options = options
        self._properties = properties

    @property
    def target(self) -> str:
        return self.options.target

    @property
    def seed(self) -> int:
        return self.options.seed

    def skip(self, slug: str, title: str, requirements: tuple[str, ...], reason: str) -> NoReturn:
        """Skip a scenario that the target does not support: the reason is reported, and there is no verdict."""
        Progress.from_environment(slug, title, requirements).report(Phase.SKIPPED, headline=reason)
        pytest.skip(reason)

    def prove(self, plan: Plan, section: str) -> RunVerdict:
        """Run the plan and return its verdict.

        Raise Violation, Infrastructure or Inconclusive unless it passed, NotBegun if the plan cannot be run here. Skip
        the test if it is inconclusive and the session's option says so, or if the session's security makes a step of
        the plan impossible.
        """
        progress = Progress.from_environment(plan.scenario, plan.title, plan.requirements)
        try:
            plan = with_security(plan, security_for(load_file(plan.target), self.options.security))
        except HarnessError as error:
            _raise_not_begun(progress, error)
        if (reason := impossible(plan)) is not None:
            self.skip(plan.scenario, plan.title, plan.requirements, reason)
        progress.steps = steps_in_words(plan)
        self._properties.append((SCENARIO_PROPERTY, plan.scenario))
        allure_report.label(plan, section)
        progress.report(Phase.STARTING)
        try:
            folder, verdict = run(plan, self.options.runs, self.options.backend, listener=progress)
        except RunInterrupt as interrupted:
            self._report(progress, plan, interrupted.folder, interrupted.verdict)
            raise
        except HarnessError as error:  # before anything exists; later ones are part of the verdict
            _raise_not_begun(progress, error)
        self._report(progress, plan, folder, verdict)
        allure_report.attach(plan, folder, verdict)
        raise_unless_passed(verdict, folder, self.options.inconclusive)
        return verdict

    def _report(self, progress: Progress, plan: Plan, folder: RunFolder, verdict: RunVerdict) -> None:
        self._properties += run_properties(plan, folder, verdict)
        progress.report(Phase.DONE, verdict=verdict.verdict.value, run=str(folder.path), headline=verdict.headline)


def _raise_not_begun(progress: Progress, error: HarnessError) -> NoReturn:
    progress.report(Phase.DONE, verdict=Verdict.INFRASTRUCTURE.value, headline=str(error))
    raise NotBegun(str(error)) from None
