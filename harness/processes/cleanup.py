"""Ending what a crashed run left behind: exactly its processes and its addresses, and nothing else.

A process belongs to a run if its pid *and* its start time are in the run's records, or if its environment carries a
token of them. Journal, logs and data stay as they are: they tell what happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.network.lease import RECORDS, LeaseFile, forget, is_held, leases
from harness.processes import table
from harness.processes.records import living, read_records


@dataclass(frozen=True)
class Cleaned:
    """What was found of one run; with `dry_run` only found, else ended and given back as well."""

    run: Path
    processes: tuple[tuple[str, int], ...]
    """Node and pid."""
    leases: tuple[int, ...]
    """The k of each 127.k.* it held."""


def left_behind() -> list[Path]:
    """The runs that died without giving their addresses back."""
    runs = (lease.run for lease in leases() if not is_held(lease))
    return [run for run in dict.fromkeys(runs) if run is not None]


def clean(run: Path, *, dry_run: bool = False) -> Cleaned:
    """End what is left of a run. Harmless to repeat.

    Raises UsageError for a run that is still going on, and for a folder that is none of a run.
    """
    run = run.resolve()
    own = [lease for lease in leases() if lease.run == run]
    if any(map(is_held, own)):
        raise UsageError(f"{run} is still running: end it with Ctrl-C in its terminal, then nothing is left to clean")
    if not own and not (run / RECORDS).exists():
        raise UsageError(f"{run} has no {RECORDS}: it is no run folder, or nothing was ever started in it")
    found = living(read_records(run / RECORDS))
    if not dry_run:
        for _, identity in found:
            table.end(identity)
        for socket in run.glob("*.sock"):
            socket.unlink()
        _give_back(own)
    return Cleaned(
        run,
        tuple((record.node, identity.pid) for record, identity in found),
        tuple(lease.k for lease in own),
    )


def _give_back(own: Sequence[LeaseFile]) -> None:
    for lease in own:
        forget(lease)
