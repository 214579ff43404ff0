"""CTest (3.25.1, 4.4.5): class and name are the same, and the suite is the name of a build."""

from __future__ import annotations

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase

_STATES = {"run", "fail", "disabled", "notrun"}


class CTest(Dialect):
    runner = "CTest"
    again = "ctest -R ^{name}$ --repeat until-fail:{times}"
    lost = (
        "repeats (--repeat until-pass): only the last is written",
        "tests that cannot run: they are written as skipped",
        "the zone of the time stamps",
    )

    def recognizes(self, report: ReportFile) -> bool:
        return (
            report.root.tag == "testsuite"
            and bool(report.cases)
            and all(
                each.element.get("status") in _STATES
                and "result" not in each.element.attrib
                and each.classname == each.name
                and each.suite is report.root
                for each in report.cases
            )
        )

    def place(self, report: ReportFile, case: TestCase) -> str:
        return ""

    def words(self, report: ReportFile, case: TestCase) -> tuple[str, ...]:
        return (case.name,)
