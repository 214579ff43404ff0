"""gotestsum (1.13.0): with `--rerun-fails` each attempt is a testcase, and names are unique in a package."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase
from fencepost.results.store.xml_reports import properties


class Gotestsum(Dialect):
    runner = "gotestsum"
    again = "go test {classname} -run ^{name}$ -count {times}"
    lost = ("the time at which a single test ran",)

    def recognizes(self, report: ReportFile) -> bool:
        return report.root.tag == "testsuites" and any("go.version" in properties(each) for each in report.root)

    def runs(self, cases: Sequence[TestCase]) -> list[list[TestCase]]:
        return [list(cases)]
