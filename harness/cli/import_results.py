"""`fencepost results import`: add the reports of other suites to a store, or say what they hold."""

from __future__ import annotations

import json as json_format
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from fencepost.harness.cli.commands.store import ImportOptions
from fencepost.harness.cli.publish import MARGIN, NAMED, store_errors
from fencepost.harness.engine.ci_job import ci_job
from fencepost.harness.errors import UsageError
from fencepost.harness.terminal import console_beside, counted
from fencepost.results.records.verdict import Verdict
from fencepost.results.store.allure import read_allure
from fencepost.results.store.builds import CommitFrom, Reading
from fencepost.results.store.cases import Imported
from fencepost.results.store.imports import Origin, add_new
from fencepost.results.store.junit import read_junit
from fencepost.results.store.retecs import read_retecs
from fencepost.results.store.store import Store

_READERS = {
    "junit": (read_junit, "*.xml"),
    "allure": (read_allure, "*-result.json"),
    "retecs": (read_retecs, "*.csv"),
}


def import_results(options: ImportOptions) -> int:
    """Import a folder of results, and print what was added; return 0, or 2 if not all came in. UsageError if it has
    none."""
    if options.explain is not None:
        return _explain(options, options.explain)
    if options.kind is None or options.folder is None or options.to is None:
        raise UsageError("name the format, the folder and the store: junit DIR --to STORE; or --explain DIR")
    found = _read(options.kind.value, options.folder, _reading(options))
    if not (found.cases or found.skipped or found.unreadable):
        pattern = _READERS[options.kind.value][1]
        raise UsageError(f"{options.folder} has no {pattern}: name the folder that holds the {options.kind} results")
    origin = _origin(options)
    with store_errors():
        store = Store.create(options.to)
        added = add_new(found, options.kind.value, origin, store)
    if options.as_json:
        print(json_format.dumps(_json(options, found, added), indent=2))
    else:
        console = console_beside(options.as_json)
        for name, line in _lines(options, found, added, origin):
            console.print(f"{name:<{MARGIN}}{line}", markup=False, highlight=False)
    return 0 if found.is_whole else Verdict.INFRASTRUCTURE.exit_code


def _read(kind: str, folder: Path, reading: Reading) -> Imported:
    if not folder.exists():
        raise UsageError(f"there is no folder {folder}")
    return _READERS[kind][0](folder, reading)


def _reading(options: ImportOptions) -> Reading:
    try:
        commit_from = CommitFrom.parse(options.commit_from) if options.commit_from else None
    except ValueError as error:
        raise UsageError(f"--commit-from: {error}") from error
    if commit_from and options.commit:
        raise UsageError("--commit names one commit, --commit-from that of each report: give one of them")
    try:
        return Reading(ZoneInfo(options.time_zone) if options.time_zone else None, commit_from)
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"--time-zone: {options.time_zone!r} is no zone such as UTC or Europe/Berlin") from error


def _origin(options: ImportOptions) -> Origin:
    ci = ci_job()
    return Origin(
        target=options.target,
        release=options.release,
        commit=options.commit,
        branch=options.branch,
        ci_system=ci.get("system"),
        ci_job=options.job or ci.get("job"),
        ci_url=options.url or ci.get("url"),
        ci_commit=ci.get("commit"),
        ci_branch=ci.get("branch"),
        in_reports=options.commit_from is not None,
    )


def _json(options: ImportOptions, found: Imported, added: int) -> Mapping[str, Any]:
    return {
        "store": options.to,
        "added": added,
        "known": len(found.cases) - added,
        "skipped": found.skipped,
        "copies": {str(path): reason for path, reason in found.copies.items()},
        "unreadable": {str(path): reason for path, reason in found.unreadable.items()},
    }


def _lines(options: ImportOptions, found: Imported, added: int, origin: Origin) -> Iterator[tuple[str, str]]:
    """Yield what came in, what did not and why, and what was taken to be so; each with its name."""
    known = len(found.cases) - added
    more = f", {known} known already" if known else ""
    yield "imported", f"{counted(added, 'result')}{more}, {found.skipped} skipped by their suite"
    for name, files in (("kept aside", found.unreadable), ("left out", found.copies)):
        for path, reason in list(files.items())[:NAMED]:
            yield name, f"{path}: {reason}"
        if len(files) > NAMED:
            yield "", f"and {len(files) - NAMED} more"
    if found.zoneless:
        zone = options.time_zone or f"this machine ({datetime.now().astimezone().tzname()})"
        yield "time zone", f"{counted(found.zoneless, 'time')} without one taken to be of {zone}; --time-zone names it"
    if found.undated:
        yield "times", f"{counted(found.undated, 'result')} without one: the time of the file counts"
    if unknown := sum(origin.of(case.build).build is None for case in found.cases):
        yield "builds", f"{counted(unknown, 'result')} of an unknown one; --commit or --commit-from names it"
    yield "store", str(options.to)


def _explain(options: ImportOptions, folder: Path) -> int:
    """Print what was recognized in a folder, of JUnit XML and Allure unless a format is named; return 0, or 2 if not
    all can be read."""
    kinds = [options.kind.value] if options.kind else ["junit", "allure"]
    read = [_read(kind, folder, _reading(options)) for kind in kinds]
    files = [each for found in read for each in found.files]
    unread = {path: reason for found in read for path, reason in [*found.unreadable.items(), *found.copies.items()]}
    if not files and not unread:
        raise UsageError(f"{folder} has neither *.xml nor *-result.json")
    if options.as_json:
        recognized = [asdict(each) | {"path": str(each.path)} for each in files]
        not_read = {str(path): reason for path, reason in unread.items()}
        print(json_format.dumps({"files": recognized, "not_read": not_read}, indent=2))
    else:
        console = console_beside(options.as_json)
        for each in files:
            counts = f"{counted(each.tests, 'test')}, {counted(each.attempts, 'attempt')}, {each.skipped} skipped"
            console.print(f"{each.path}: {each.runner}, {counts}", markup=False, highlight=False)
            notes = [("", note) for note in each.notes] + [("cannot be known", lost) for lost in each.lost]
            for name, line in [*notes, *([("what helps", each.switch)] if each.switch else [])]:
                console.print(f"  {name}{': ' if name else ''}{line}", markup=False, highlight=False)
        for path, reason in unread.items():
            console.print(f"{path}: not read: {reason}", markup=False, highlight=False)
    return 0 if files and not any(found.unreadable for found in read) else Verdict.INFRASTRUCTURE.exit_code
