"""Vitest (5.1.2): the failures of one testcase are its attempts."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.results.store.dialects.dialect import Dialect, Execution, ReportFile, TestCase


class Vitest(Dialect):
    runner = "Vitest"
    again = "{once}npx vitest run -t {name}"
    lost = ("retries of a test that passed at last", "durations of attempts: the time is their sum")

    def recognizes(self, report: ReportFile) -> bool:
        return report.root.get("name") == "vitest tests"

    def attempts(self, case: TestCase) -> Iterator[Execution]:
        failures = case.failures
        if len(failures) < 2 or self.is_skipped(case):
            yield from super().attempts(case)
            return
        for failure in failures:
            yield Execution(case, failure.tag, failure)
