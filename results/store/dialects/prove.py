"""prove of Perl with TAP::Formatter::JUnit (0.11): a skipped test looks as if it passed, but the output has its TAP."""

from __future__ import annotations

import re
from typing import Final

from fencepost.results.store.dialects.dialect import Dialect, ReportFile, TestCase

_TAP: Final = re.compile(r"^(?:not )?ok (\d+)\b(.*)", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"#\s*(?:skip|todo)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(\d+)(?: - )?(.*)")


class Prove(Dialect):
    runner = "prove"
    lost = (
        "why a test failed: it is in the error output",
        "when the tests ran",
        "durations, without --timer",
        "a file that ended early",
    )
    switch = "prove --timer"

    def recognizes(self, report: ReportFile) -> bool:
        return bool(report.cases) and all(
            _TAP.search(case.suite.findtext("system-out") or "") and _NUMBER.fullmatch(case.name)
            for case in report.cases
        )

    def words(self, report: ReportFile, case: TestCase) -> tuple[str, ...]:
        """Return the description of the test: its number is another one as soon as a test comes before it."""
        found = _NUMBER.fullmatch(case.name)
        return ((found[2] or found[1]) if found else case.name,)

    def is_skipped(self, case: TestCase) -> bool:
        """Return whether the test has a directive: it did not run, or that it fails is expected."""
        found = _NUMBER.fullmatch(case.name)
        directives = dict(_TAP.findall(case.suite.findtext("system-out") or ""))
        return found is not None and bool(_DIRECTIVE.search(directives.get(found[1], "")))
