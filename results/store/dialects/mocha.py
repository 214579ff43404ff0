"""Mocha: its own xunit reporter (12.0.3), and mocha-junit-reporter (2.2.1)."""

from __future__ import annotations

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase
from fencepost.results.store.stable_path import stable


class Mocha(Dialect):
    runner = "Mocha"
    again = "{once}npx mocha -g {name}"
    writes_utc = True
    lost = ("retries: only the last attempt is written", "failures of hooks, as tests of their own")

    def recognizes(self, report: ReportFile) -> bool:
        return report.root.get("name") == "Mocha Tests"

    def place(self, report: ReportFile, case: TestCase) -> str:
        files = [case.element.get("file"), *(each.get("file") for each in reversed(case.around))]
        return stable(next(filter(None, files), ""))
