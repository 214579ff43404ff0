"""Gradle, with its plugin for retries: a further testcase of the same name follows one that failed."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase


class Gradle(Dialect):
    runner = "Gradle"
    again = "{once}gradle test --rerun --tests {all}"
    writes_utc = True
    lost = ()
    switch = ""

    def recognizes(self, report: ReportFile) -> bool:
        root = report.root
        properties = root.find("properties")
        writes_so = all(name in root.attrib for name in ("timestamp", "hostname")) and properties is not None
        outputs = all(root.find(name) is not None for name in ("system-out", "system-err"))
        schema = any(name.endswith("noNamespaceSchemaLocation") for name in root.attrib)
        return root.tag == "testsuite" and writes_so and outputs and not schema and not len(properties or ())

    def place(self, report: ReportFile, case: TestCase) -> str:
        return report.module

    def runs(self, cases: Sequence[TestCase]) -> list[list[TestCase]]:
        found: list[list[TestCase]] = []
        for case in cases:
            if found and found[-1][-1].failures:
                found[-1].append(case)
            else:
                found.append([case])
        return found
