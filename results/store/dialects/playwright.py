"""Playwright (1.65.1): `hostname` has the project, and a failure begins with the place of its test."""

from __future__ import annotations

import re

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase

_FILE = re.compile(r".*\.(?:spec|test|setup)\.[cm]?[jt]sx?")


class Playwright(Dialect):
    runner = "Playwright"
    again = "npx playwright test -g {name} --repeat-each {times}"
    lost = ("retries, unless they are included", "the time at which a single test ran")
    switch = "includeRetries, includeProjectInTestName (PLAYWRIGHT_JUNIT_INCLUDE_RETRIES=1)"

    def recognizes(self, report: ReportFile) -> bool:
        if report.root.tag != "testsuites" or report.root.get("name") or not report.cases:
            return False
        return all(
            "hostname" in each.suite.attrib
            and each.classname == each.suite.get("name")
            and bool(_FILE.fullmatch(each.classname))
            for each in report.cases
        )

    def place(self, report: ReportFile, case: TestCase) -> str:
        return (case.suite.get("hostname") or "").strip()
