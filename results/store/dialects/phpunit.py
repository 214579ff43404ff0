"""PHPUnit (9.6.7)."""

from __future__ import annotations

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase


class PhpUnit(Dialect):
    runner = "PHPUnit"
    again = "{once}vendor/bin/phpunit --filter {name}"
    lost = (
        "when the tests ran: the time of the file counts",
        "with --repeat, which executions are of one test: the whole tree is repeated, and numbered",
    )
    switch = "unpack archives with their times"

    def recognizes(self, report: ReportFile) -> bool:
        first = report.cases[0].element if report.cases else None
        return first is not None and "class" in first.attrib and "assertions" in first.attrib

    def place(self, report: ReportFile, case: TestCase) -> str:
        return ""
