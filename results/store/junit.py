"""JUnit XML files as executions of tests. `dialects/` knows how each runner writes."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count
from pathlib import Path, PurePath
from typing import Final
from xml.etree.ElementTree import Element

from fencepost.results.store.builds import Builds, Reading
from fencepost.results.store.cases import Build, Case, Imported, Recognized
from fencepost.results.store.dialects import UNKNOWN, dialect_of
from fencepost.results.store.dialects.dialect import Dialect, Execution, ReportFile, TestCase
from fencepost.results.store.headline import headline, last_line, says_nothing
from fencepost.results.store.reported_times import in_zone, seconds, time_stamp
from fencepost.results.store.xml_reports import properties, read_xml

_OF_TESTNG: Final = ("junitreports", "Surefire suite")
"""The folders in which TestNG writes again what Surefire wrote above them."""


@dataclass(frozen=True)
class _File:
    """A file that is read: its dialect, its digest, the time of its last change, and its properties."""

    path: Path
    report: ReportFile
    dialect: Dialect
    digest: str
    changed: datetime
    named: Mapping[str, str]
    builds: Builds

    def build(self, case: TestCase) -> Build:
        own = properties(case.element)
        return self.builds.of(self.path, {**self.named, **own})


def read_junit(folder: Path, reading: Reading = Reading()) -> Imported:  # noqa: B008 - it is frozen
    """Return the results in all XML files below a folder (or of one file) whose root is `testsuite` or `testsuites`."""
    imported = Imported()
    seen: dict[str, Path] = {}
    builds = Builds(folder, reading.commit_from)
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*.xml")):
        try:
            if first := _written_twice(path):
                imported.copies[path] = f"TestNG wrote again what {first} has"
                continue
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if digest in seen:
                imported.copies[path] = f"a copy of {seen[digest]}"
                continue
            root = read_xml(path)
            if root.tag not in ("testsuite", "testsuites"):
                raise ValueError(f"its root is {root.tag}, not testsuite or testsuites")
            report = ReportFile(PurePath(path.name) if path == folder else path.relative_to(folder), root)
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            named = {name: value for each in _with_properties(root) for name, value in properties(each).items()}
            file = _File(path, report, dialect_of(report), digest, changed, named, builds)
            _read_file(file, reading.zone, imported)
            seen[digest] = path
        except (OSError, ValueError) as error:
            imported.unreadable[path] = str(error)
    return imported


def _with_properties(root: Element) -> Iterator[Element]:
    """Yield the elements whose properties are those of a whole report: the root, and its one suite."""
    yield root
    if root.tag == "testsuites":
        yield from root.findall("testsuite")[:1]


def _written_twice(path: Path) -> Path | None:
    above = path.parent.parent
    return above if path.parent.name in _OF_TESTNG and any(above.glob("TEST-*.xml")) else None


def _read_file(file: _File, zone: tzinfo | None, imported: Imported) -> None:
    tests = dict(_tests(file.report, file.dialect))
    attempts = skipped = zoneless = undated = 0
    for test, cases in tests.items():
        executions = file.dialect.executions(cases)
        skipped += not executions
        attempts += len(executions)
        before: Case | None = None
        for number, execution in enumerate(executions, start=1):
            stamp = time_stamp(execution.stamp) or _inherited(execution.case, is_last=number == len(executions))
            zoneless += stamp is not None and stamp.tzinfo is None and not file.dialect.writes_utc
            undated += stamp is None
            started = file.changed if stamp is None else in_zone(stamp, UTC if file.dialect.writes_utc else zone)
            if before is not None:  # attempts follow each other, also where only their suite has a time
                after = timedelta(0) if execution.stamp else timedelta(seconds=before.seconds or 0)
                started = max(started, before.started + max(after, timedelta(microseconds=1)))
            before = _case(file, test, (number, len(executions)), execution, started, is_dated=stamp is not None)
            imported.cases.append(before)
    imported.skipped += skipped
    imported.zoneless += zoneless
    imported.undated += undated
    notes = [f"{undated} without a time: that of the file counts"] if undated else []
    notes += [f"{zoneless} with a time without zone"] if zoneless else []
    of = file.dialect
    imported.files.append(
        Recognized(file.path, of.runner, len(tests) - skipped, attempts, skipped, of.lost, of.switch, tuple(notes))
    )


def _tests(report: ReportFile, dialect: Dialect) -> Iterator[tuple[str, list[TestCase]]]:
    """Yield each test of a file with the testcases that are attempts of it.

    Testcases of one identity that are no attempts are tests of their own, and are numbered: in a suite by their
    order, those of several suites by the other names of these, since runners change the order of files.
    """
    by_test: dict[str, dict[int, list[TestCase]]] = defaultdict(lambda: defaultdict(list))
    for case in report.cases:
        by_test[dialect.test(report, case)][id(case.suite)].append(case)
    used = Counter(by_test.keys())
    for test, by_suite in by_test.items():
        suites = list(by_suite.values())
        if len(suites) > 1:
            suites.sort(key=lambda cases: sorted(each.get("name", "") for each in cases[0].suite.iter("testcase")))
        numbers = count(1)
        for cases in (run for of_suite in suites for run in dialect.runs(of_suite)):
            number = next(numbers)
            name = test if number == 1 else f"{test} #{number}"
            while number > 1 and used[name]:
                name = f"{test} #{(number := next(numbers))}"
            yield name, cases


def _inherited(case: TestCase, *, is_last: bool) -> datetime | None:
    """Return the time of the testcase, for its last execution, else of the innermost element around that has one."""
    elements = (*([case.element] if is_last else []), *reversed(case.around))
    return next(filter(None, (time_stamp(each.get("timestamp")) for each in elements)), None)


def _case(
    file: _File, test: str, place: tuple[int, int], execution: Execution, started: datetime, *, is_dated: bool
) -> Case:
    """Return a case; `place` is its number among the attempts of its run, and the number of these."""
    case = execution.case
    number, attempts = place
    message, line = _words(execution) if execution.kind else ("", "")
    return Case(
        key=f"{file.digest} {test} {number}",
        report=file.digest[:16],
        test=test,
        suite=next((name for each in reversed(case.suites) if (name := each.get("name"))), None),
        title=case.name or case.classname or "(no name)",
        file=file.path.name,
        verdict=execution.verdict or ("violation" if execution.kind else "pass"),
        started=started,
        seconds=seconds(execution.time),
        attempt=number,
        attempts=attempts,
        kind=execution.kind,
        message=message,
        headline=line,
        is_dated=is_dated,
        build=file.build(case),
        runner=None if file.dialect is UNKNOWN else file.dialect.runner,
    )


def _words(execution: Execution) -> tuple[str, str]:
    """Return the message of a failure, and the line of it that says what failed."""
    failure, case = execution.failure, execution.case
    attribute = execution.message or (failure.get("message") if failure is not None else "")
    text = ((failure.text or "").strip() or failure.findtext("stackTrace") or "") if failure is not None else ""
    names = (case.name, f"{case.classname}::{case.name}", f"{case.classname}.{case.name}")
    line = headline(attribute, text, names)
    if not line:
        outputs = (case.element.findtext(name) for name in ("system-err", "system-out"))
        line = next(filter(None, map(last_line, outputs)), "")
    if not line and failure is not None:
        line = failure.get("type") or attribute or failure.tag
    return line if says_nothing(attribute) else str(attribute), line or execution.kind
