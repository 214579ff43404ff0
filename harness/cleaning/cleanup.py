"""End everything that a dead run left behind, and nothing else.

Each kind of leftover is proven to belong to the run by a rule of its own. Processes come first (among them the servers
of mounts), addresses last, once nothing uses them. Journal, logs and data are kept as evidence.

`clean_all` looks for every dead run that anything on this machine names, its folder gone or not: leases, environments
of processes, and labels of containers name runs. Where a folder has records, they decide as ever. Where the folder is
gone, what still carries its stamp is removed: the stamp says whose it is, and the harness id in it proves that the
harness is dead. What another machine, boot or pid namespace signed proves nothing here, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.cleaning import commands, containers, mounts, processes
from fencepost.harness.cleaning.leftover import Leftover, RemovalError, Remove
from fencepost.harness.errors import UsageError
from fencepost.harness.network.lease import forget, is_held, leases
from fencepost.harness.processes.records import RECORDS
from fencepost.harness.processes.resources import RESOURCES, ResourceRecords, read_resources
from fencepost.results.records.journal import being_written


def _addresses(run: Path) -> list[Leftover]:
    """Return the address leases of a dead run, and the sockets that it listened on."""
    held = [Leftover("addresses", "", f"127.{lease.k}.*", lease) for lease in leases() if lease.run == run]
    return [*held, *(Leftover("socket", path.name, str(path), path) for path in sorted(run.glob("*.sock")))]


def _free(found: Sequence[Leftover]) -> None:
    for each in found:
        if each.kind == "socket":
            each.handle.unlink(missing_ok=True)
        else:
            forget(each.handle)


KINDS: tuple[tuple[Callable[[Path], list[Leftover]], Remove], ...] = (
    (processes.of_run, processes.remove),
    (mounts.of_run, mounts.remove),
    (containers.of_run, containers.remove),
    (commands.of_run, commands.remove),
    (_addresses, _free),
)
STAMPED: tuple[tuple[Callable[[], Iterator[tuple[Path, Leftover]]], Remove], ...] = (
    (processes.without_records, processes.remove),
    (containers.without_records, containers.remove),
)


@dataclass(frozen=True)
class CleanupReport:
    """The leftovers of one run; they were removed unless it was a dry run."""

    run: Path
    found: tuple[Leftover, ...]
    problems: tuple[str, ...] = ()
    """A message for each leftover that is still there, or that could not be searched for."""

    def of(self, kind: str) -> list[Leftover]:
        return [each for each in self.found if each.kind == kind]


def is_alive(run: Path) -> bool:
    """Return whether the harness of a run is alive: it holds addresses, or writes the journal."""
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


def dead_runs() -> list[Path]:
    """The same, and the runs with records of which a process lives whose harness has died: a helper may outlive the
    cleaning by its run."""
    stamped = (run for run, _ in processes.without_records())
    return list(dict.fromkeys([*left_behind(), *(run for run in stamped if has_records(run) and not is_alive(run))]))


def clean(run: Path, *, dry_run: bool = False) -> CleanupReport:
    """Remove the leftovers of a run; it may be repeated.

    Raises UsageError for a run that is still going on, and for a folder that is not a run folder.
    """
    run = run.resolve()
    if is_alive(run):
        raise UsageError(f"{run} is still running: end it with Ctrl-C in its terminal, then nothing is left to clean")
    if not (has_records(run) or _addresses(run)):
        raise UsageError(f"{run} has no {RECORDS}: it is no run folder, or nothing was ever started in it")
    found: list[Leftover] = []
    problems: list[str] = []
    for of_run, remove in KINDS:
        if of_run is _addresses and problems:
            break  # what is still there may use them
        try:
            of_kind = of_run(run)
        except containers.NoEngineError as error:
            problems.append(str(error))
            continue
        found += of_kind
        problems += [] if dry_run else removed(of_kind, remove)
    if not (dry_run or problems):
        _settle(run)
    return CleanupReport(run, tuple(found), tuple(problems))


def _settle(run: Path) -> None:
    """Mark the recorded resources of a run as gone, so that later runs do not search for them."""
    with suppress(OSError):
        for resource in read_resources(run):
            ResourceRecords(run).gone(resource.kind, resource.id)


def removed(found: Sequence[Leftover], remove: Remove) -> list[str]:
    """Remove, and give a message for each thing that is still there."""
    try:
        remove(found)
    except RemovalError as error:
        return list(error.args)
    return []


def clean_all(*, dry_run: bool = False) -> tuple[list[CleanupReport], list[str]]:
    """Every run of which something was found; and a message for each kind of thing that could not be looked for. Runs
    that go on are left alone."""
    stamped, unseen = _stamped()
    named = dict.fromkeys([*left_behind(), *stamped])
    done = [_clean(run, stamped.get(run, []), dry_run) for run in named if not is_alive(run)]
    return [each for each in done if each.found or each.problems], unseen


def _clean(run: Path, stamped: list[tuple[Leftover, Remove]], dry_run: bool) -> CleanupReport:
    if has_records(run):
        return clean(run, dry_run=dry_run)
    problems = [] if dry_run else [message for each, remove in stamped for message in removed([each], remove)]
    done = CleanupReport(run, tuple(each for each, _ in stamped), tuple(problems))
    if problems or run not in left_behind():
        return done
    addresses = clean(run, dry_run=dry_run)  # last: what was there may have used them
    return CleanupReport(run, (*done.found, *addresses.found), addresses.problems)


def _stamped() -> tuple[dict[Path, list[tuple[Leftover, Remove]]], list[str]]:
    """By run; and what could not be looked for."""
    found: dict[Path, list[tuple[Leftover, Remove]]] = {}
    unseen = []
    for look, remove in STAMPED:
        try:
            for run, each in look():
                found.setdefault(run, []).append((each, remove))
        except containers.NoEngineError as error:
            unseen.append(str(error))
    return found, unseen
