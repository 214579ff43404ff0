"""Robot Framework (7.5), xunit output: suites in suites below a root suite."""

from __future__ import annotations

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase


class Robot(Dialect):
    runner = "Robot Framework"
    again = "{once}robot --test {name} TESTS"
    lost = ("after rebot --merge, when the tests ran", "the zone of the time stamps", "retries")

    def recognizes(self, report: ReportFile) -> bool:
        return (
            report.root.tag == "testsuite"
            and bool(report.cases)
            and all(
                len(each.suites) > 1 and each.classname == ".".join(suite.get("name", "") for suite in each.suites)
                for each in report.cases
            )
        )

    def place(self, report: ReportFile, case: TestCase) -> str:
        return ""
