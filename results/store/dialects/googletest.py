"""GoogleTest (1.12.1)."""

from __future__ import annotations

from fencepost.results.store.dialects.dialect import Dialect, ReportFile


class GoogleTest(Dialect):
    runner = "GoogleTest"
    again = "./PROGRAM --gtest_filter={all} --gtest_repeat={times}"
    lost = ("failures of SetUpTestSuite and TearDownTestSuite", "the zone of the time stamps")
    switch = "look at the exit code of the program beside its file"

    def recognizes(self, report: ReportFile) -> bool:
        return bool(report.cases) and all(
            each.element.get("status") in ("run", "notrun") and "result" in each.element.attrib for each in report.cases
        )
