"""Ending what a dead run left behind: exactly that, and nothing else.

Each kind of thing has a file here that says what proves it to be the run's own. Processes come first (among them the
servers of mounts), addresses last, and only once nothing uses them any more. Journal, logs and data stay as they are:
they tell what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.cleaning import addresses, containers, mounts, processes
from harness.cleaning.leftover import Leftover, Remove, Unremovable
from harness.cleaning.records import RESOURCES, ResourceRecords, read_resources
from harness.errors import UsageError
from harness.network.lease import is_held, leases
from harness.processes.records import RECORDS
from results.records.journal import being_written

KINDS: tuple[tuple[Callable[[Path], list[Leftover]], Remove], ...] = (
    (processes.of_run, processes.remove),
    (mounts.of_run, mounts.remove),
    (containers.of_run, containers.remove),
    (addresses.of_run, addresses.remove),
)


@dataclass(frozen=True)
class Cleaned:
    """What was found of one run; with `dry_run` only found, else removed as well."""

    run: Path
    found: tuple[Leftover, ...]
    problems: tuple[str, ...] = ()
    """A sentence for each thing that is still there, or that could not be looked for."""

    def of(self, kind: str) -> list[Leftover]:
        return [each for each in self.found if each.kind == kind]


def is_alive(run: Path) -> bool:
    """Whether a harness still drives this run: it holds addresses, or writes the journal."""
    if any(is_held(lease) for lease in leases() if lease.run == run):
        return True
    journal = run / "journal.jsonl"
    return journal.is_file() and being_written(journal)


def has_records(run: Path) -> bool:
    return (run / RECORDS).exists() or (run / RESOURCES).exists()


def left_behind() -> list[Path]:
    """The runs that died without giving their addresses back."""
    runs = (lease.run for lease in leases() if not is_held(lease))
    return [run for run in dict.fromkeys(runs) if run is not None]


def clean(run: Path, *, dry_run: bool = False) -> Cleaned:
    """End what is left of a run. Harmless to repeat.

    Raises UsageError for a run that is still going on, and for a folder that is none of a run.
    """
    run = run.resolve()
    if is_alive(run):
        raise UsageError(f"{run} is still running: end it with Ctrl-C in its terminal, then nothing is left to clean")
    if not (has_records(run) or addresses.of_run(run)):
        raise UsageError(f"{run} has no {RECORDS}: it is no run folder, or nothing was ever started in it")
    found: list[Leftover] = []
    problems: list[str] = []
    for of_run, remove in KINDS:
        if of_run is addresses.of_run and problems:
            break  # what is still there may use them
        try:
            of_kind = of_run(run)
        except containers.NoEngine as error:
            problems.append(str(error))
            continue
        found += of_kind
        problems += [] if dry_run else removed(of_kind, remove)
    if not (dry_run or problems):
        _settle(run)
    return Cleaned(run, tuple(found), tuple(problems))


def _settle(run: Path) -> None:
    """What was meant and never came to be, or is not there any more, is looked for no longer."""
    with suppress(OSError):
        for resource in read_resources(run):
            ResourceRecords(run).gone(resource.kind, resource.id)


def removed(found: Sequence[Leftover], remove: Remove) -> list[str]:
    """Remove, and give a sentence for each thing that is still there."""
    try:
        remove(found)
    except Unremovable as error:
        return list(error.args)
    return []
