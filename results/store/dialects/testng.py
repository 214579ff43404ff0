"""TestNG's own reporter (7.12.0), as in `junitreports`."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.results.store.dialects.dialect import Dialect, Execution, ReportFile, TestCase
from fencepost.results.store.dialects.surefire import merged_retries, retried_runs


class TestNG(Dialect):
    __test__ = False
    runner = "TestNG"
    lost = ("which row of a data provider a testcase is of: they are numbered",)
    switch = "a retry is written as skipped; Surefire's own files (TEST-*.xml) name the rows"

    def recognizes(self, report: ReportFile) -> bool:
        root = report.root
        has_ignored = any(child.tag == "ignored" for case in report.cases for child in case.element)
        stamp = root.get("timestamp") or ""
        return root.tag == "testsuite" and ("ignored" in root.attrib or has_ignored or stamp.endswith(" UTC"))

    def place(self, report: ReportFile, case: TestCase) -> str:
        return report.module

    def runs(self, cases: Sequence[TestCase]) -> list[list[TestCase]]:
        return retried_runs(cases)

    def executions(self, cases: Sequence[TestCase]) -> list[Execution]:
        return merged_retries(self, cases)
