"""Histories of industrial suites, as research on the order of tests publishes them: a line of CSV for each execution.

The columns that are read: `Id` of the execution, `Name` of the test, `Duration` in milliseconds, `LastRun` (its time),
`Verdict` (1 failed, 0 passed) and `Cycle` of continuous integration, which is the build. Source: Spieker et al.,
Reinforcement Learning for Automatic Test Case Prioritization and Selection in Continuous Integration (RETECS), 2017.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from fencepost.results.store.builds import Reading
from fencepost.results.store.cases import Build, Case, Imported, Recognized
from fencepost.results.store.reported_times import in_zone, time_stamp

_COLUMNS: Final = ("Id", "Name", "Duration", "LastRun", "Verdict", "Cycle")
_VERDICTS: Final = {"0": "pass", "1": "violation"}
_LOST: Final = ("why an execution failed", "the commits of the cycles")


def read_retecs(folder: Path, reading: Reading = Reading()) -> Imported:  # noqa: B008 - it is frozen
    """Return the executions in all `*.csv` files of this form below a folder (or in one file)."""
    imported = Imported()
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*.csv")):
        try:
            runs = _runs(path, reading)
        except (OSError, ValueError, csv.Error) as error:
            imported.unreadable[path] = str(error)
            continue
        cases = [case for run in runs for case in run]
        imported.cases += cases
        imported.zoneless += len(cases)
        tests = len({case.test for case in cases})
        imported.files.append(Recognized(path, "RETECS", tests, len(cases), 0, _LOST))
    return imported


def _runs(path: Path, reading: Reading) -> Iterator[list[Case]]:
    """Return the runs of a file, each the executions of one test in one cycle up to one that passed.

    Raise ValueError, which names the line.
    """
    executions: dict[tuple[str, str], list[Case]] = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as file:
        head = file.readline()
        file.seek(0)
        lines = csv.DictReader(file, delimiter=";" if ";" in head else ",")
        if missing := [name for name in _COLUMNS if name not in (lines.fieldnames or ())]:
            raise ValueError(f"it has no columns {', '.join(missing)}: it is no history of this form")
        for line in lines:
            try:
                case = _case(line, path, reading)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"line {lines.line_num}: {error}") from error
            executions[case.report, case.test].append(case)
    return (run for of_test in executions.values() for run in _attempts(of_test))


def _case(line: Mapping[str, str], path: Path, reading: Reading) -> Case:
    stamp = time_stamp(line["LastRun"])
    if stamp is None:
        raise ValueError(f"LastRun {line['LastRun']!r} is no time")
    if line["Verdict"] not in _VERDICTS:
        raise ValueError(f"Verdict {line['Verdict']!r} is neither 0 nor 1")
    failed = line["Verdict"] == "1"
    return Case(
        key=" ".join(line[name] for name in ("Id", "Name", "Cycle", "LastRun")),
        report=f"cycle {line['Cycle']}",
        test=line["Name"],
        suite=None,
        title=line["Name"],
        file=path.name,
        verdict=_VERDICTS[line["Verdict"]],
        started=in_zone(stamp, reading.zone),
        seconds=float(line["Duration"]) / 1000,
        kind="failure" if failed else "",
        message="failed" if failed else "",
        headline="failed" if failed else "",
        build=Build(build=f"cycle {line['Cycle']}"),
    )


def _attempts(executions: list[Case]) -> Iterator[list[Case]]:
    run: list[Case] = []
    for case in sorted(executions, key=lambda each: each.started):
        run.append(case)
        if case.verdict == "pass":
            yield _numbered(run)
            run = []
    if run:
        yield _numbered(run)


def _numbered(run: list[Case]) -> list[Case]:
    return [replace(case, attempt=number, attempts=len(run)) for number, case in enumerate(run, start=1)]
