"""pytest (9.2.0), also with rerunfailures (16.6 to 16.7), xdist and subtests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from fencepost.results.store.dialects.dialect import Dialect, Execution, ReportFile, TestCase

RERUN = "failed and was run again; pytest-rerunfailures does not write why"
_SUBTESTS = re.compile(r"contains \d+ failed subtests?")


class Pytest(Dialect):
    """From rerunfailures 16.6.1 on, an attempt that was rerun is a testcase without a child, as a pass is.

    The suite counts a test once, so it has more testcases than its `tests` says.
    """

    runner = "pytest"
    lost = (
        "why an attempt failed that was rerun",
        "up to pytest-rerunfailures 16.6, reruns: a test that passed at last is a pass",
        "the subtest that failed, by name",
        "the time at which a single test ran",
    )
    switch = "pytest-rerunfailures 16.6.1 or later, or --alluredir: Allure has each attempt with its reason"

    def recognizes(self, report: ReportFile) -> bool:
        suites = [report.root] if report.root.tag == "testsuite" else report.root.findall("testsuite")
        return report.root.get("name") == "pytest tests" or any(each.get("name") == "pytest" for each in suites)

    def place(self, report: ReportFile, case: TestCase) -> str:
        return ""

    def runs(self, cases: Sequence[TestCase]) -> list[list[TestCase]]:
        return [list(cases)]

    def executions(self, cases: Sequence[TestCase]) -> list[Execution]:
        if len(cases) == 1:
            return list(self.attempts(cases[0]))
        *earlier, last = cases
        if earlier[-1].failures and last.failures:  # a test that failed, and then its teardown: one execution
            last = earlier.pop()
        return [*(each for case in earlier for each in self._rerun(case)), *self.attempts(last)]

    def _rerun(self, case: TestCase) -> Iterator[Execution]:
        counted = case.suite.get("tests", "")
        is_rerun = not case.failures and counted.isdigit() and len(case.suite.findall("testcase")) > int(counted)
        if is_rerun:
            yield Execution(case, "failure", message=RERUN, time=case.element.get("time"))
        else:
            yield from self.attempts(case)

    def reason(self, failures: Sequence[Element]) -> Element:
        parts = [each for each in failures if not _SUBTESTS.match(each.get("message", ""))]
        return (parts or list(failures))[0]
