"""A dialect: how one runner writes its results into JUnit XML. The class itself reads the files of unknown runners."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from shlex import quote
from typing import ClassVar, Final
from xml.etree.ElementTree import Element

NOT_RUN: Final = frozenset({"notrun", "not_run", "disabled", "skipped", "ignored", "pending", "suppressed", "todo"})
_FAILED: Final = frozenset({"fail", "failed", "failure", "error", "broken"})
_OWN: Final = ("failure", "error")
_ATTEMPTS: Final = ("flakyFailure", "flakyError", "rerunFailure", "rerunError")
_OF_ONE_RUN: Final = re.compile(r"\d{4}-?\d\d-?\d\d|\d\d:\d\d:\d\d|[0-9a-f]{8}-[0-9a-f]{4}-")
"""Dates, times and ids in the name of a suite: it is another one at each run."""


@dataclass(frozen=True)
class TestCase:
    """A `testcase` with the elements around it, the root first."""

    __test__ = False
    element: Element
    around: tuple[Element, ...]

    @property
    def suite(self) -> Element:
        """Return the element that it is directly in."""
        return self.around[-1]

    @property
    def suites(self) -> tuple[Element, ...]:
        return tuple(each for each in self.around if each.tag == "testsuite")

    @property
    def name(self) -> str:
        return (self.element.get("name") or "").strip()

    @property
    def classname(self) -> str:
        return (self.element.get("classname") or "").strip()

    @property
    def failures(self) -> list[Element]:
        """Return the elements of its last execution that say that it failed: several for one, if several parts did."""
        return [each for each in self.element if each.tag in _OWN]

    @property
    def is_marked_skipped(self) -> bool:
        return any(each.tag in ("skipped", "ignored", "disabled") for each in self.element)

    @property
    def did_not_run(self) -> bool:
        states = {self.element.get(name, "").lower() for name in ("status", "result")}
        return self.is_marked_skipped or bool(states & NOT_RUN)


@dataclass(frozen=True)
class ReportFile:
    """A file: its path below the folder that is imported, its root, and its testcases at any depth, in their order."""

    path: PurePath
    root: Element

    @cached_property
    def cases(self) -> tuple[TestCase, ...]:
        return tuple(_cases(self.root, ()))

    @cached_property
    def module(self) -> str:
        """Return the folder of a module of Maven or Gradle below the imported one: `core` of `core/target/...`."""
        parts = self.path.parts
        return "/".join(parts[: next((at for at, part in enumerate(parts) if part in ("target", "build")), 0)])


def _cases(element: Element, around: tuple[Element, ...]) -> Iterator[TestCase]:
    within = (*around, element)
    for child in element:
        if child.tag == "testcase":
            yield TestCase(child, within)
        elif child.tag == "testsuite":
            yield from _cases(child, within)


@dataclass(frozen=True)
class Execution:
    """One execution of a test. `kind` is empty for a pass, `failure` has the message unless `message` does.

    `verdict` is there where the file says more than that it failed or did not. `time` and `stamp` are as the file has
    them for this execution; None where it does not.
    """

    case: TestCase
    kind: str = ""
    failure: Element | None = None
    message: str = ""
    time: str | None = None
    stamp: str | None = None
    verdict: str = ""


class Dialect:
    """How one runner writes. A subclass says what is different; it is found by its file in `dialects/`.

    `lost` is what cannot be known from a file, `switch` the runner's option that would help.
    """

    runner: ClassVar[str] = "unknown"
    writes_utc: ClassVar[bool] = False
    """Its time stamps without a zone are UTC."""
    lost: ClassVar[tuple[str, ...]] = ("whether a repeated name is a retry: each counts as a test of its own",)
    switch: ClassVar[str] = ""
    again: ClassVar[str] = ""
    """The command that runs one test `{times}` times; one that begins with `{once}` runs it once. Empty: not known.

    It names the test by `{name}`, `{classname}`, `{all}` (both, dotted) or `{class_and_method}` (both, with a hash).
    """

    def recognizes(self, report: ReportFile) -> bool:
        """Return whether the runner wrote the file. At most one dialect does."""
        return False

    def place(self, report: ReportFile, case: TestCase) -> str:
        """Return what tells tests of one class and name apart: here the suites that the class does not name."""
        names = [(each.get("name") or "").strip() for each in case.suites]
        return "/".join(each for each in names if each and each not in case.classname and not _OF_ONE_RUN.search(each))

    def words(self, report: ReportFile, case: TestCase) -> tuple[str, ...]:
        """Return the class and the name, as far as they are known."""
        return (case.classname, case.name or "(no name)")

    def test(self, report: ReportFile, case: TestCase) -> str:
        """Return the identity of the test, constant over its runs."""
        return "::".join(filter(None, (self.place(report, case), *self.words(report, case))))

    def runs(self, cases: Sequence[TestCase]) -> list[list[TestCase]]:
        """Return the testcases of one identity in one suite by test: those of one list are attempts of one test."""
        return [[case] for case in cases]

    def rerun(self, classname: str, name: str, times: int) -> str | None:
        """Return the shell command that runs a test so many times; None if the runner has none that is known."""
        words = {
            "name": name,
            "classname": classname,
            "all": f"{classname}.{name}",
            "class_and_method": f"{classname}#{name}",
        }
        quoted = {key: quote(word) for key, word in words.items()}
        command = self.again.format(once="", times=times, **quoted)
        if times > 1 and self.again.startswith("{once}"):
            command = f"for i in $(seq {times}); do {command}; done"
        return command or None

    def is_skipped(self, case: TestCase) -> bool:
        """Return whether the test did not run. One that failed in a part, and skipped another, failed."""
        return case.did_not_run and not case.failures

    def executions(self, cases: Sequence[TestCase]) -> list[Execution]:
        """Return the executions that the testcases of one test hold, the earliest first."""
        return [each for case in cases for each in self.attempts(case)]

    def attempts(self, case: TestCase) -> Iterator[Execution]:
        """Yield the executions in one testcase in the order of the file; a pass comes after what failed before it."""
        if self.is_skipped(case):
            return
        ended = False
        for child in case.element:
            if child.tag in _ATTEMPTS:
                kind = "error" if child.tag.endswith("Error") else "failure"
                yield Execution(case, kind, child, time=child.get("time"), stamp=child.get("timestamp"))
            elif child.tag in _OWN and not ended:
                ended = True
                yield self.failed(case, self.reason(case.failures))
        if not ended:
            yield self.last(case)

    def last(self, case: TestCase) -> Execution:
        """Return the execution of a testcase without a failure: its status may say that it failed all the same."""
        status = case.element.get("status", "").lower()
        kind = "failure" if status in _FAILED else ""
        message = f"status {status}" if kind else ""
        return Execution(case, kind, None, message, case.element.get("time"), case.element.get("timestamp"))

    def failed(self, case: TestCase, failure: Element) -> Execution:
        """Return an execution that failed, with the time of its testcase."""
        return Execution(case, failure.tag, failure, time=case.element.get("time"), stamp=case.element.get("timestamp"))

    def reason(self, failures: Sequence[Element]) -> Element:
        """Return the failure that says why, of those of one execution."""
        return failures[0]
