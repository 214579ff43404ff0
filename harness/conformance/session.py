"""One story in a test: from the plan to the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from harness.conformance import allure_report
from harness.conformance.outcome import raise_unless_passed
from harness.conformance.progress import Phase, Progress
from harness.plan.model import Plan
from harness.pytest_plugin import STORY_PROPERTY, VERDICT_PROPERTY
from harness.run import Interrupted, run
from results.records.folder import RunFolder
from results.records.verdict import RunVerdict


@dataclass(frozen=True)
class Settings:
    """What the command line asked for. `runs` is where run folders go."""

    target: str
    seed: int
    runs: Path
    backend: str


class Session:
    """What a test gets as the fixture `fencepost`."""

    def __init__(self, settings: Settings, properties: list[tuple[str, object]]) -> None:
        self.settings = settings
        self._properties = properties

    @property
    def target(self) -> str:
        return self.settings.target

    @property
    def seed(self) -> int:
        return self.settings.seed

    def skip(self, slug: str, title: str, requirements: tuple[str, ...], reason: str) -> NoReturn:
        """The target cannot do what the story needs: recorded, printed, and no verdict."""
        Progress.from_environment(slug, title, requirements).tell(Phase.SKIPPED, headline=reason)
        pytest.skip(reason)

    def prove(self, plan: Plan, section: str) -> RunVerdict:
        """Run the plan. Raises Violation, Infrastructure or Inconclusive unless it passed."""
        progress = Progress.from_environment(plan.story, plan.title, plan.requirements)
        progress.steps = tuple(plan.step_name(place) for place in range(len(plan.steps)))
        self._properties.append((STORY_PROPERTY, plan.story))
        allure_report.label(plan, section)
        progress.tell(Phase.STARTING)
        try:
            folder, verdict = run(plan, self.settings.runs, self.settings.backend, watch=progress)
        except Interrupted as interrupted:
            self._tell(progress, interrupted.folder, interrupted.verdict)
            raise
        self._tell(progress, folder, verdict)
        allure_report.attach(plan, folder, verdict)
        raise_unless_passed(verdict, folder)
        return verdict

    def _tell(self, progress: Progress, folder: RunFolder, verdict: RunVerdict) -> None:
        self._properties.append((VERDICT_PROPERTY, verdict.verdict.value))
        progress.tell(Phase.DONE, verdict=verdict.verdict.value, run=str(folder.path), headline=verdict.headline)
