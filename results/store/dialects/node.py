"""node --test (20.20, 24.9, 26.12): testcases directly below the root, and suites in suites."""

from __future__ import annotations

import re
from typing import Final

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase
from fencepost.results.store.stable_path import stable

_NO_CLASS = "test"
"""The class of each testcase up to node 24."""
_FILE: Final = re.compile(r"\.[cm]?[jt]s$")


class Node(Dialect):
    runner = "node --test"
    again = "{once}node --test --test-name-pattern {name}"
    lost = (
        "a failure of a test that has subtests: it is a suite",
        "when the tests ran, before node 26: the time of the file counts",
        "with --test-rerun-failures, earlier passes: they are repeated in each later file",
    )
    switch = "node 26 or later"

    def recognizes(self, report: ReportFile) -> bool:
        root = report.root
        if root.tag != "testsuites" or not report.cases or root.get("name"):
            return False
        return root.find("testcase") is not None or all(
            each.classname == _NO_CLASS or (not root.attrib and _FILE.search(each.element.get("file", "")))
            for each in report.cases
        )

    def place(self, report: ReportFile, case: TestCase) -> str:
        names = [stable(case.element.get("file")), *(each.get("name") or "" for each in case.suites)]
        return "/".join(filter(None, names)) if case.classname == _NO_CLASS else stable(case.element.get("file"))

    def words(self, report: ReportFile, case: TestCase) -> tuple[str, ...]:
        return (case.name or "(no name)",) if case.classname == _NO_CLASS else super().words(report, case)

    def is_skipped(self, case: TestCase) -> bool:
        """Return whether the test did not run, or is marked todo: that it fails is expected."""
        return case.did_not_run
