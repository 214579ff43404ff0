"""Folders of Allure results as executions of tests.

| status | verdict |
| --- | --- |
| passed | pass |
| failed, broken | violation |
| unknown | inconclusive |
| skipped, none | none: it did not run |

A test of fencepost has its verdict at the begin of its message, also where it is in quarantine and therefore skipped.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from fencepost.results.store.builds import Builds, Reading
from fencepost.results.store.cases import Case, Imported, Recognized
from fencepost.results.store.headline import headline, says_nothing
from fencepost.results.store.masking import masked_signature
from fencepost.results.store.reported_times import FIRST_YEAR

MASKED: Final = "******"
IDLE: Final = timedelta(minutes=30)
"""Time without any result after which the next one is of another launch: folders that were never emptied hold days."""
_STATUS: Final = {
    "passed": ("pass", ""),
    "failed": ("violation", "failure"),
    "broken": ("violation", "error"),
}
_UNKNOWN: Final = ("inconclusive", "unknown")
_OWN: Final = re.compile(
    r"(?:XFAIL[^\n]*\n\n)?fencepost\.(Violation|Infrastructure|Inconclusive): |Skipped: (inconclusive): "
)
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")
LOST: Final = {
    "allure-vitest": "retries: one result for all attempts",
    "allure-jest": "failures of hooks around several tests: their tests are what they were without them",
    "allure-mocha": "failures of hooks: they have no result",
    "allure-pytest": "tests of a worker that crashed: they have no result",
}
"""By adapter, the facts that its results do not have."""


@dataclass(frozen=True)
class _Result:
    """One execution, the identity that Allure gives its test, and the adapter that wrote it."""

    case: Case
    history: str
    adapter: str
    path: Path


def read_allure(folder: Path, reading: Reading = Reading()) -> Imported:  # noqa: B008 - it is frozen
    """Return the results of all `*-result.json` files below a folder (or of one file)."""
    imported = Imported()
    builds = Builds(folder, reading.commit_from)
    hooks = dict(_failed_hooks(folder))
    results: dict[str, _Result] = {}
    skipped: dict[str, Path] = {}
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*-result.json")):
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            uuid = str(value["uuid"])
            if uuid in results or uuid in skipped:
                imported.copies[path] = f"a copy of {results[uuid].path if uuid in results else skipped[uuid]}"
            elif value.get("status") in (None, "", "skipped") and not _own_verdict(value):
                skipped[uuid] = path
            else:
                results[uuid] = _result(_with_hook(value, hooks.get(uuid)), path, builds)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            imported.unreadable[path] = f"no field {error}" if isinstance(error, KeyError) else str(error)
    imported.skipped = len(skipped)
    imported.undated = sum(not each.case.is_dated for each in results.values())
    imported.cases = list(_numbered(results.values()))
    imported.files = list(_recognized(folder, results.values(), imported))
    return imported


def _result(value: Mapping[str, Any], path: Path, builds: Builds) -> _Result:
    verdict, kind = _STATUS.get(str(value["status"]), _UNKNOWN)
    if own := _own_verdict(value):
        verdict, kind = own, "failure" if own == "violation" else "error"
    details = value.get("statusDetails") or {}
    shown = [each for each in value.get("parameters") or () if each.get("mode") != "hidden"]
    parameters = {str(each["name"]): MASKED if each.get("mode") == "masked" else str(each["value"]) for each in shown}
    excluded = {str(each["name"]) for each in shown if each.get("excluded")}
    distinguishing = ", ".join(f"{name}={text}" for name, text in parameters.items() if name not in excluded)
    name = str(value.get("fullName") or value["name"])
    test = _ADDRESS.sub("0x…", f"{name}[{distinguishing}]" if distinguishing else name)
    labels = {str(each["name"]): str(each["value"]) for each in reversed(value.get("labels") or ())}
    message = str(details.get("message") or (kind and value["status"]))
    line = headline(message, details.get("trace")) if kind else ""
    start, stop = value.get("start"), value.get("stop")
    begin = None if start is None else datetime.fromtimestamp(start / 1000, UTC)
    is_dated = begin is not None and begin.year >= FIRST_YEAR
    case = Case(
        key=str(value["uuid"]),
        report="",
        test=test,
        suite=labels.get("suite") or labels.get("parentSuite") or labels.get("feature"),
        title=str(value["name"]),
        file=path.name,
        verdict=verdict,
        started=begin if begin and is_dated else datetime.fromtimestamp(path.stat().st_mtime, UTC),
        is_dated=is_dated,
        seconds=None if start is None or stop is None or stop < start else (stop - start) / 1000,
        kind=kind,
        message=(line or message) if kind and says_nothing(message) else message,
        headline=line or message,
        parameters=parameters,
        build=builds.of(path, labels),
    )
    framework = labels.get("framework", "")
    return _Result(case, str(value.get("historyId") or ""), f"allure-{framework}" if framework else "Allure", path)


def _own_verdict(value: Mapping[str, Any]) -> str:
    """Return the verdict of a run of fencepost that did not pass; empty for any other test."""
    found = _OWN.match(str((value.get("statusDetails") or {}).get("message") or ""))
    return (found[1] or found[2]).lower() if found else ""


def _failed_hooks(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tests of which the own hook failed, with the status and the details of that hook.

    Some adapters write it only into the container around the test, and the test as it was before.
    """
    for path in sorted(folder.rglob("*-container.json")) if folder.is_dir() else ():
        try:
            container = json.loads(path.read_text(encoding="utf-8"))
            [test] = container.get("children") or (None,)
            hooks = [*(container.get("befores") or ()), *(container.get("afters") or ())]
            failed = next((each for each in hooks if each.get("status") in ("failed", "broken")), None)
        except (OSError, ValueError, AttributeError):
            continue  # several tests, or no container
        if test is not None and failed is not None:
            yield str(test), {"status": failed["status"], "statusDetails": failed.get("statusDetails") or {}}


def _with_hook(value: dict[str, Any], hook: dict[str, Any] | None) -> dict[str, Any]:
    return value if hook is None or value.get("status") != "passed" else value | hook


def _numbered(results: Iterable[_Result]) -> Iterator[Case]:
    """Yield the executions with their attempts: those of one test in one launch, each after one that did not pass.

    Tests of one name that Allure tells apart get a mark of its identity behind their name.
    """
    in_order = sorted(results, key=lambda each: (each.case.started, each.case.key))
    histories: dict[str, set[str]] = defaultdict(set)
    for each in in_order:
        histories[each.case.test].add(each.history)
    tests: dict[str, list[Case]] = defaultdict(list)
    for each, launch in zip(in_order, _launches([each.case for each in in_order]), strict=True):
        mark = f" {{{masked_signature(each.history)[:6]}}}" if each.history else ""
        test = each.case.test + (mark if len(histories[each.case.test]) > 1 else "")
        tests[test].append(replace(each.case, test=test, report=launch))
    for executions in tests.values():
        run: list[Case] = []
        for case in executions:
            if run and (run[-1].report != case.report or run[-1].verdict == "pass"):
                yield from _attempts(run)
                run = []
            run.append(case)
        yield from _attempts(run)


def _attempts(run: Sequence[Case]) -> Iterator[Case]:
    return (replace(case, attempt=number, attempts=len(run)) for number, case in enumerate(run, start=1))


def _launches(cases: Sequence[Case]) -> Iterator[str]:
    """Yield the launch of each case, by the identity of its first one; the cases are in the order of time."""
    until: datetime | None = None
    launch = ""
    for case in cases:
        if until is None or case.started > until + IDLE:
            launch = masked_signature(case.key)
        ended = case.started + timedelta(seconds=case.seconds or 0)
        until = ended if until is None else max(until, ended)
        yield launch


def _recognized(folder: Path, results: Iterable[_Result], imported: Imported) -> Iterator[Recognized]:
    """Yield a line for each adapter that wrote results, and one for the errors outside of tests."""
    by_adapter: dict[str, list[_Result]] = defaultdict(list)
    for each in results:
        by_adapter[each.adapter].append(each)
    if imported.skipped and not by_adapter:
        by_adapter["Allure"] = []
    notes = tuple(_outside(folder))
    for number, (adapter, of_adapter) in enumerate(sorted(by_adapter.items())):
        lost = (LOST[adapter],) if adapter in LOST else ()
        histories = {each.history or each.case.test for each in of_adapter}
        skipped = 0 if number else imported.skipped
        yield Recognized(folder, adapter, len(histories), len(of_adapter), skipped, lost, "", () if number else notes)


def _outside(folder: Path) -> Iterator[str]:
    """Yield the errors outside of tests, which Allure 3 writes into `*-globals.json`."""
    for path in sorted(folder.rglob("*-globals.json")) if folder.is_dir() else ():
        try:
            errors = json.loads(path.read_text(encoding="utf-8")).get("errors") or ()
            yield from (f"an error outside of tests: {headline(each.get('message'), None)}" for each in errors)
        except (OSError, ValueError, AttributeError):
            yield f"{path.name} cannot be read"
