"""jest-junit (17.0.0): by default class and name are the same text, and the file is not named."""

from __future__ import annotations

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase
from fencepost.results.store.stable_path import stable


class Jest(Dialect):
    runner = "jest-junit"
    again = "{once}npx jest -t {name}"
    writes_utc = True
    lost = (
        "retries: only the last attempt is written",
        "files that did not load",
        "todo: it looks as if it passed",
        "the file of a test: equal names of two files are numbered",
    )
    switch = "reportTestSuiteErrors, addFileAttribute, classNameTemplate={filepath}"

    def recognizes(self, report: ReportFile) -> bool:
        return report.root.tag == "testsuites" and report.root.get("name") == "jest tests"

    def place(self, report: ReportFile, case: TestCase) -> str:
        file = stable(case.element.get("file") or case.suite.get("file"))
        suite = (case.suite.get("name") or "").strip()
        is_named = file or suite == "undefined" or suite in case.classname
        return file or ("" if is_named else suite)

    def words(self, report: ReportFile, case: TestCase) -> tuple[str, ...]:
        return (case.name or "(no name)",) if case.classname == case.name else super().words(report, case)
