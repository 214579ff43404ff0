"""`fencepost releases`: the releases of a target, what was run with which result here, and what the registry has."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from packaging.version import Version
from rich import box
from rich.table import Table

from fencepost.harness.cli.commands.scenarios import ReleasesOptions
from fencepost.harness.cli.publish import store_errors
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.base import release_range
from fencepost.harness.targets import registry
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.maven import published
from fencepost.harness.targets.releases import never_run, within
from fencepost.harness.terminal import console_beside, counted, terminal
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.survey import FolderState, survey
from fencepost.results.records.verdict import RunVerdict, Verdict
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS

DEFAULT_RUNS = Path("runs")
"""The default folder, which need not be there."""
NEVER_RUN_CODE = 1
"""The exit code of `--check` if a release was never run, or is not listed."""


@dataclass
class Results:
    """The runs of one release: their number by verdict, and the day of the last one, UTC."""

    verdicts: Counter[str] = field(default_factory=Counter)
    last: date | None = None

    def add(self, verdict: str, day: date) -> None:
        self.verdicts[verdict] += 1
        self.last = day if self.last is None else max(self.last, day)

    def __str__(self) -> str:
        return ", ".join(f"{self.verdicts[each.value]} {each.value}" for each in Verdict if self.verdicts[each.value])


@dataclass(frozen=True)
class Checked:
    """The answer of the registry for one target: releases that its file does not list, and those never run."""

    unlisted: tuple[str, ...]
    never_run: tuple[str, ...]

    @property
    def message(self) -> str:
        """Return one message that says what to do; empty if nothing is to be done."""
        if self.never_run:
            be = "was" if len(self.never_run) == 1 else "were"
            return (
                f"{_and(self.never_run)} {be} published and never run: run a suite, and add it to `published` and "
                "`tested` of the target file"
            )
        return f"{_and(self.unlisted)} can be had, and `published` of the target file lacks it" if self.unlisted else ""


Ran = Mapping[tuple[str, str], Results]
"""The results by target and release."""


def releases(options: ReleasesOptions) -> int:
    """Print the releases of one target or of all; return 0, or 1 if `check` finds one never run or not listed.

    UsageError for an unknown target, no such folder or no store; InfrastructureError if the registry cannot be asked.
    """
    if not options.runs.is_dir() and options.runs != DEFAULT_RUNS:
        raise UsageError(f"there is no folder of runs {options.runs}")
    files = [registry.load_file(each) for each in ([options.target] if options.target else registry.names())]
    ran = _results(options.runs, options.store)
    listed = [file for file in files if file.published]
    console = console_beside(options.as_json)
    checked: dict[str, Checked] = {}
    if options.check:
        console.print("asking Maven's registry ...", style="dim")
        checked = dict(_checked(listed))
    if options.as_json:
        print(json.dumps([_as_json(file, ran, checked.get(file.name)) for file in files], indent=2))
    else:
        for file in files:
            _show(file, ran, checked.get(file.name))
    problems = [f"{name}: {each.message}" for name, each in checked.items() if each.message]
    if problems:
        print(f"fencepost: {'; '.join(problems)}.", file=sys.stderr)
    return NEVER_RUN_CODE if problems else 0


def _checked(files: Sequence[TargetFile]) -> Iterator[tuple[str, Checked]]:
    """Compare each target file with the registry. A target whose driver names no artifact is left out."""
    known: dict[tuple[str, str], list[str]] = {}
    for file in files:
        driver = registry.load(file.name)
        artifact = getattr(driver, "artifact", None)
        if artifact is None:
            continue
        if artifact not in known:
            known[artifact] = published(*artifact)
        its_own = [each for each in known[artifact] if within(each, file.releases)]
        unlisted = tuple(each for each in its_own if each not in file.published)
        yield file.name, Checked(unlisted, tuple(never_run(its_own, file.tested)))


def _results(runs: Path, store: str | None) -> Ran:
    """Return the results of a folder of runs, and of a store. A run of an upgrade counts for both releases."""
    found: dict[tuple[str, str], Results] = {}
    for name, version, verdict, day in (*_in_folder(runs), *_in_store(store)):
        for release in release_range(version) or (version,):
            found.setdefault((name, release), Results()).add(verdict, day)
    return found


Run = tuple[str, str, str, date]
"""Target, version, verdict and day."""


def _in_folder(runs: Path) -> Iterator[Run]:
    if not runs.is_dir():
        return
    for folder in survey(runs).with_campaigns().folders[FolderState.JUDGED]:
        try:
            yield _run(folder)
        except (OSError, ValueError) as error:
            print(f"left out {folder.path}: {error}", file=sys.stderr)


def _run(folder: RunFolder) -> Run:
    manifest = Manifest.load(folder.manifest)
    verdict = RunVerdict.load(folder.verdict).verdict.value
    return manifest.target, manifest.target_version, verdict, datetime.fromtimestamp(manifest.started, UTC).date()


def _in_store(store: str | None) -> Iterator[Run]:
    if store is None:
        return
    with store_errors():
        rows = Store.open(store).read(RUNS, ["target", "release", "verdict", "started_at"]).to_pylist()
    for row in rows:
        yield row["target"], row["release"] or "", row["verdict"], row["started_at"].date()


def _as_json(file: TargetFile, ran: Ran, checked: Checked | None) -> dict[str, Any]:
    rows = [
        {
            "release": version,
            "default": version == file.version,
            "published": version in file.published,
            "tested": version in file.tested,
            "runs": dict(results.verdicts),
            "last_run": results.last and results.last.isoformat(),
        }
        for version, results in _rows(file, ran)
    ]
    registry_has = checked and {"unlisted": list(checked.unlisted), "never_run": list(checked.never_run)}
    return {"target": file.name, "releases": rows, "check": registry_has}


def _rows(file: TargetFile, ran: Ran) -> list[tuple[str, Results]]:
    """Return the listed releases in order, and after them other versions that were run here, such as builds."""
    ours = {version: results for (name, version), results in ran.items() if name == file.name}
    listed = sorted(file.published, key=Version)
    return [(each, ours.get(each) or Results()) for each in (*listed, *sorted(ours.keys() - {*listed}))]


def _show(file: TargetFile, ran: Ran, checked: Checked | None) -> None:
    console = terminal()
    if not file.published:
        console.print(f"{file.name} lists no releases; its version is {file.version}")
        return
    rows = _rows(file, ran)
    table = Table(
        "release", "known as", "runs here", "last", box=box.SIMPLE_HEAD, title=file.title, title_justify="left"
    )
    for version, results in rows:
        table.add_row(version, _known_as(file, version), str(results) or "-", str(results.last or ""))
    console.print(table)
    number = sum(bool(results.verdicts) for _, results in rows)
    console.print(f"{counted(len(file.published), 'release')}, {number} of them run here")
    if checked is not None:
        console.print(checked.message or "the registry has no release that was never run, and none that is not listed")


def _known_as(file: TargetFile, version: str) -> str:
    words = {
        "default": version == file.version,
        "tested": version in file.tested,
        "not listed": version not in file.published,
    }
    return ", ".join(word for word, holds in words.items() if holds)


def _and(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
