"""The verdicts of the scenarios of one pytest session, and the exit status that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from fencepost.results.records.verdict import Verdict

SCENARIO_PROPERTY = "fencepost.scenario"
VERDICT_PROPERTY = "fencepost.verdict"
REPORT_PROPERTY = "fencepost.report"
NOT_EXERCISED_PROPERTY = "fencepost.not_exercised"
"""Properties of a test's report: they travel from an xdist worker to the process that sets the exit status, and stand
in JUnit XML."""


@dataclass
class Results:
    """The verdicts that the tests of this process reported."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """By scenario."""
    runs: dict[str, dict[str, str]] = field(default_factory=dict)
    """The properties of each run that has a verdict, by the id of the test."""
    other_failures: bool = False
    expected: set[str] = field(default_factory=set)
    """The ids of tests that failed as their `xfail` marks say: the session does not fail over them."""

    def add(self, report: pytest.TestReport) -> None:
        properties: dict[str, Any] = dict(report.user_properties)
        scenario = properties.get(SCENARIO_PROPERTY)
        if hasattr(report, "wasxfail"):
            self.expected.add(report.nodeid)
        if VERDICT_PROPERTY in properties:
            self.runs[report.nodeid] = properties
        if report.nodeid in self.expected:
            return
        if scenario is None:
            self.other_failures |= report.failed
        elif VERDICT_PROPERTY in properties:
            verdict = Verdict(properties[VERDICT_PROPERTY])
            self.other_failures |= report.failed and verdict is Verdict.PASS  # a failure outside the scenario
            self._add(scenario, verdict)
        elif report.failed:
            self._add(scenario, Verdict.INFRASTRUCTURE)

    def _add(self, scenario: str, verdict: Verdict) -> None:
        """Add a verdict. A scenario may report more than one."""
        self.verdicts[scenario] = Verdict.worst([verdict, self.verdicts.get(scenario, verdict)])

    def exit_status(self, own: int) -> int:
        """Return the exit status. `own` is pytest's: a verdict replaces only its "passed" and "tests failed"."""
        if not self.verdicts or self.other_failures or own not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return own
        return Verdict.worst(self.verdicts.values()).exit_code


def verdict_of(report: pytest.TestReport) -> Verdict | None:
    """Return the verdict of the run that a test reports; None if it has none."""
    value = dict(report.user_properties).get(VERDICT_PROPERTY)
    return None if value is None else Verdict(str(value))
