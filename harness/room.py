"""A place for run folders: checked before anything is made, and named when it gives out."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import InfrastructureError, UsageError

LEAST = 64 * 1024 * 1024
"""Bytes that a run may need: logs, data of a few brokers, a report."""
ANOTHER = "name another place with --runs"
_FULL = (errno.ENOSPC, errno.EDQUOT)


def check_room(runs: Path) -> None:
    """Raises UsageError if run folders cannot be made in `runs`, or if there is no space for one. Makes nothing."""
    existing = next(place for place in (runs.absolute(), *runs.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise UsageError(f"run folders cannot be made in {runs}: {existing} is a file; {ANOTHER}")
    if not os.access(existing, os.W_OK | os.X_OK) or _read_only(existing):
        raise UsageError(f"run folders cannot be made in {runs}: {existing} is not writable; allow it, or {ANOTHER}")
    free = shutil.disk_usage(existing).free
    if free < LEAST:
        raise UsageError(
            f"only {free / 1e6:.1f} MB are free in {existing}, and a run may need {LEAST / 1e6:.0f} MB: make room, "
            f"or {ANOTHER}"
        )


@contextmanager
def room(runs: Path) -> Iterator[None]:
    """What is written in the block is written below `runs`: InfrastructureError if the space gives out."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise InfrastructureError(
            f"no space is left in {runs}, and what the run left there is not whole: make room, or {ANOTHER}"
        ) from error


def _read_only(place: Path) -> bool:
    """Root may write wherever it is asked; /proc, /sys and what is mounted read-only take nothing all the same."""
    return bool(os.statvfs(place).f_flag & os.ST_RDONLY) or place.parts[1:2] in (("proc",), ("sys",))
