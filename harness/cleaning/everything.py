"""`fencepost clean --all`: every dead run that anything on this machine names, its folder gone or not.

Leases, environments of processes, and labels of containers name runs. Where a folder has records, they decide as ever.
Where the folder is gone, what still carries its stamp is removed: the stamp says whose it is, and the harness id in it
proves that the harness is dead. What another machine, boot or pid namespace signed proves nothing here, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from fencepost.harness.cleaning import containers, processes
from fencepost.harness.cleaning.cleanup import CleanupReport, clean, has_records, is_alive, left_behind, removed
from fencepost.harness.cleaning.leftover import Leftover, Remove

STAMPED: tuple[tuple[Callable[[], Iterator[tuple[Path, Leftover]]], Remove], ...] = (
    (processes.without_records, processes.remove),
    (containers.without_records, containers.remove),
)


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
