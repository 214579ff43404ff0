"""Maven Surefire and Failsafe (3.5.6, 3.6.1), with JUnit and TestNG."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.results.store.dialects.dialect import Dialect, Execution, ReportFile, TestCase

_OF_CLASS = ("", "initializationError")
"""The names of a failure of the class itself, in 3.5.6 and 3.6.1: its tests are not in the file."""


def merged_retries(dialect: Dialect, cases: Sequence[TestCase]) -> list[Execution]:
    """Return the executions of one test of TestNG, which writes an attempt that is retried as skipped.

    Surefire gives it the reason, TestNG itself does not.
    """
    *earlier, last = cases
    retried = []
    for each in earlier:
        skipped = each.element.find("skipped")
        text = "" if skipped is None else (skipped.text or "").strip().removeprefix(f"{skipped.get('type')}: ")
        message = text or "failed and was retried: TestNG wrote it as skipped"
        retried.append(Execution(each, "failure", message=message, time=each.element.get("time")))
    return [*retried, *dialect.attempts(last)]


def retried_runs(cases: Sequence[TestCase]) -> list[list[TestCase]]:
    """Return the testcases by test: skipped ones are attempts of the one after them that ran.

    Of one that ran alone they are all, as TestNG's own reporter writes the testcases of a class in any order.
    """
    ran = [case for case in cases if case.failures or not case.did_not_run]
    if len(ran) == 1:
        return [[*(case for case in cases if case is not ran[0]), ran[0]]]
    found: list[list[TestCase]] = []
    skipped: list[TestCase] = []
    for case in cases:
        if case.did_not_run and not case.failures:
            skipped.append(case)
        else:
            found.append([*skipped, case])
            skipped = []
    return [*found, *([case] for case in skipped)]


class Surefire(Dialect):
    runner = "Surefire"
    again = "{once}mvn test -Dtest={class_and_method}"
    lost = (
        "when the tests ran: the time of the file counts",
        "durations of the attempts of a retried test but one",
        "with 3.5, retries of methods of one name in nested classes: they are joined",
        "tests of a class that failed as a whole",
    )
    switch = "Surefire 3.6 or later; unpack archives with their times"

    def recognizes(self, report: ReportFile) -> bool:
        return report.root.tag == "testsuite" and any(
            name.endswith("noNamespaceSchemaLocation") and ("surefire" in value or "failsafe" in value)
            for name, value in report.root.attrib.items()
        )

    def place(self, report: ReportFile, case: TestCase) -> str:
        return report.module

    def words(self, report: ReportFile, case: TestCase) -> tuple[str, ...]:
        if case.name in _OF_CLASS and case.classname:
            return (case.classname,)
        return super().words(report, case)

    def runs(self, cases: Sequence[TestCase]) -> list[list[TestCase]]:
        return retried_runs(cases)

    def executions(self, cases: Sequence[TestCase]) -> list[Execution]:
        return merged_retries(self, cases)
