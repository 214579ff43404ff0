"""pytest (9.2.0), also with rerunfailures (16.6 to 16.7), xdist and subtests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from fencepost.results.store.dialects.dialect import Dialect, Execution, ReportFile, TestCase
from fencepost.results.store.xml_reports import properties

RERUN = "failed and was run again; pytest-rerunfailures does not write why"
VERDICT = "fencepost.verdict"
_SUBTESTS = re.compile(r"contains \d+ failed subtests?")


class Pytest(Dialect):
    """From rerunfailures 16.6.1 on, an attempt that was rerun is a testcase without a child, as a pass is.

    The suite counts a test once, so it has more testcases than its `tests` says. A test of fencepost has its verdict
    as a property, also where it was rerun, is in quarantine (a skipped testcase), or proved nothing.
    """

    runner = "pytest"
    again = "{once}pytest -k {name}"
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
        if earlier[-1].failures and _is_teardown(last):  # a test that failed, and then its teardown: one execution
            last = earlier.pop()
        return [*(each for case in earlier for each in self._rerun(case)), *self.attempts(last)]

    def is_skipped(self, case: TestCase) -> bool:
        return not _own_verdict(case) and super().is_skipped(case)

    def attempts(self, case: TestCase) -> Iterator[Execution]:
        verdict = _own_verdict(case)
        if not verdict:
            yield from super().attempts(case)
            return
        said = next((each for each in case.element if each.tag in ("failure", "error", "skipped")), None)
        kind = said.tag if said is not None and said.tag != "skipped" else "failure"
        message = RERUN if said is None else ""
        yield Execution(case, kind, said, message, case.element.get("time"), verdict=verdict)

    def _rerun(self, case: TestCase) -> Iterator[Execution]:
        counted = case.suite.get("tests", "")
        is_rerun = (
            not _own_verdict(case)
            and not case.failures
            and counted.isdigit()
            and len(case.suite.findall("testcase")) > int(counted)
        )
        if is_rerun:
            yield Execution(case, "failure", message=RERUN, time=case.element.get("time"))
        else:
            yield from self.attempts(case)

    def reason(self, failures: Sequence[Element]) -> Element:
        parts = [each for each in failures if not _SUBTESTS.match(each.get("message", ""))]
        return (parts or list(failures))[0]


def _is_teardown(case: TestCase) -> bool:
    return any(each.get("message", "").startswith("failed on teardown") for each in case.failures)


def _own_verdict(case: TestCase) -> str:
    """Return the verdict of a run of fencepost that did not pass; empty for any other test."""
    verdict = properties(case.element).get(VERDICT, "pass")
    return "" if verdict == "pass" else verdict
