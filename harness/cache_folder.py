"""The folder for everything that is fetched or prepared once, for all projects of a user."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

COMPLETE = "complete"
"""Marker file of a folder that is filled."""


def cache_folder() -> Path:
    """Return `~/.cache/fencepost`, or the folder `fencepost` of `$XDG_CACHE_HOME`. It need not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fencepost"


def is_cached(name: str) -> bool:
    """Return whether the cache has the folder `name`, complete."""
    return (cache_folder() / name / COMPLETE).exists()


def cached(name: str, progress: str, fill: Callable[[Path], None]) -> Path:
    """Return the folder `name` of the cache. One process fills it if needed, with a line of progress; others wait.

    `fill` gets an empty folder; what it puts beside that one is removed. If it raises, the cache has no such folder.
    """
    folder = cache_folder() / name
    with locked(name):
        if not is_cached(name):
            print(progress, file=sys.stderr, flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
                content = Path(scratch) / "content"
                content.mkdir()
                fill(content)
                (content / COMPLETE).touch()
                content.rename(folder)
    return folder


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock of an entry of the cache for the block: one process at a time makes it."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
