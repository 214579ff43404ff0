"""Catch2 (2.13.10)."""

from __future__ import annotations

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase


class Catch2(Dialect):
    runner = "Catch2"
    lost = ("the order of nested sections in a name",)

    def recognizes(self, report: ReportFile) -> bool:
        names = [each.get("name") for each in report.root.iterfind("testsuite/properties/property")]
        hosts = {each.get("hostname") for each in report.root.iterfind("testsuite")}
        return "random-seed" in names or "filters" in names or hosts == {"tbd"}

    def is_skipped(self, case: TestCase) -> bool:
        """Return whether the test did not run, or is tagged `[!mayfail]`: that it fails is expected."""
        return case.did_not_run
