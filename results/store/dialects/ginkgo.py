"""Ginkgo (2.34.0): its attempts are in the output of a test only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fencepost.results.store.dialects.dialect import Dialect, Execution, ReportFile, TestCase

_RETRIED = re.compile(r"Attempt #(\d+) Failed\.?\s+Retrying")


class Ginkgo(Dialect):
    runner = "Ginkgo"
    again = "ginkgo --focus {name} --repeat {times}"
    lost = ("durations of attempts, and why those failed that were retried", "the zone of the time stamps")

    def recognizes(self, report: ReportFile) -> bool:
        suites = report.root.iter("testsuite")
        names = {each.get("name") for suite in suites for each in suite.iterfind("properties/property")}
        return "SuiteSucceeded" in names

    def attempts(self, case: TestCase) -> Iterator[Execution]:
        for number in sorted(set(map(int, _RETRIED.findall(case.element.findtext("system-err") or "")))):
            yield Execution(case, "failure", message=f"attempt {number} failed and was retried; see the output")
        yield from super().attempts(case)
