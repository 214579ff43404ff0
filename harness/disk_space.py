"""Disk space for run folders: checked before a run, and named in the error if the disk becomes full."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fencepost.harness.errors import InfrastructureError, UsageError

NEEDED_BYTES = 64 * 1024 * 1024
"""Space that a run may need: logs, data of a few brokers, a report."""
ANOTHER = "name another place with --runs"
_FULL = (errno.ENOSPC, errno.EDQUOT)


def check_disk_space(runs: Path) -> None:
    """Raise UsageError if run folders cannot be made in `runs`, InfrastructureError if the disk is too full.

    Creates nothing.
    """
    existing = _existing(runs)
    if not existing.is_dir():
        raise UsageError(f"run folders cannot be made in {runs}: {existing} is a file; {ANOTHER}")
    if not os.access(existing, os.W_OK | os.X_OK) or _read_only(existing):
        raise UsageError(f"run folders cannot be made in {runs}: {existing} is not writable; allow it, or {ANOTHER}")
    free = shutil.disk_usage(existing).free
    if free < NEEDED_BYTES:
        raise InfrastructureError(
            f"only {free / 1e6:.1f} MB are free in {existing}; a run may need {NEEDED_BYTES / 1e6:.0f} MB: make room, "
            f"or {ANOTHER}"
        )


def _existing(runs: Path) -> Path:
    """Return the folder itself, or the nearest one above it that exists."""
    try:
        place = runs.resolve()
        return next(each for each in (place, *place.parents) if each.exists())
    except OSError as error:
        raise UsageError(
            f"run folders cannot be made in {runs}: {error.filename}: {error.strerror}; {ANOTHER}"
        ) from error


@contextmanager
def disk_space_errors(runs: Path) -> Iterator[None]:
    """Raise InfrastructureError if the disk becomes full in the block, which writes below `runs`.

    Threads that fail for the same reason print no traceback meanwhile: the one message says it.
    """
    before = threading.excepthook

    def hook(failed: threading.ExceptHookArgs) -> None:
        if not (isinstance(failed.exc_value, OSError) and failed.exc_value.errno in _FULL):
            before(failed)

    threading.excepthook = hook
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise InfrastructureError(
            f"no space is left in {runs}, and the files of the run are incomplete: make room, or {ANOTHER}"
        ) from error
    finally:
        threading.excepthook = before


def _read_only(place: Path) -> bool:
    """Return whether a place takes no files, even from root: /proc, /sys, and read-only mounts."""
    return bool(os.statvfs(place).f_flag & os.ST_RDONLY) or place.parts[1:2] in (("proc",), ("sys",))
