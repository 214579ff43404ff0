"""The log of changes that a power loss would undo: all since they were last made durable.

The model. Bytes of a file survive if an fsync (or fdatasync) of that file ended after they were written; what was
overwritten or cut off since comes back, what was appended is gone. Names (files and directories made, renamed,
removed) survive if *any* fsync ended after them, as with the journals of ext4 and XFS, which are committed as a whole;
POSIX alone would ask for an fsync of the directory. So a file can survive empty. Names also survive once they are half
a minute old. Of bytes it is the worst case: a real kernel writes them back by itself after about that time, too, and
ext4 does it when a file is renamed over another.

Not modelled: writes that reach the disk in another order or in part, times and permissions.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.faults.capabilities import LostWrites

PAGE = 4096
NAMES_SURVIVE_AFTER = 30.0
"""Seconds; this bounds the log for nodes that never call fsync."""


@dataclass
class _UnsyncedFile:
    """A file that was changed since it was made durable; what it was then."""

    path: str
    fd: int
    size: int
    pages: dict[int, bytes] = field(default_factory=dict)
    """By number, as far as they were changed; of the last one what lay before `size`."""

    def keep(self, begin: int, end: int) -> None:
        """Before the bytes between are changed."""
        if begin >= (end := min(end, self.size)):
            return
        for page in range(begin // PAGE, (end - 1) // PAGE + 1):
            if page not in self.pages:
                self.pages[page] = os.pread(self.fd, min(PAGE, self.size - page * PAGE), page * PAGE)

    def undo(self) -> tuple[int, int]:
        """How long it was, and is."""
        before = os.fstat(self.fd).st_size
        for page, content in self.pages.items():
            os.pwrite(self.fd, content, page * PAGE)
        os.ftruncate(self.fd, self.size)
        return before, self.size


@dataclass(frozen=True)
class _NameChange:
    at: float
    message: str
    undo: Callable[[], object]
    kept: Path | None
    """The path of the file that lost its name."""

    def survives(self) -> None:
        if self.kept is not None:
            with suppress(FileNotFoundError):
                self.kept.unlink()


class UndoLog:
    """Records every change before it happens. `aside` is a separate folder that keeps removed files."""

    def __init__(self, aside: Path) -> None:
        shutil.rmtree(aside, ignore_errors=True)
        self._aside = aside
        self._kept = 0
        self._names: deque[_NameChange] = deque()
        self._files: dict[tuple[int, int], _UnsyncedFile] = {}
        self._lock = threading.RLock()

    def writes(self, path: str, fd: int, begin: int, end: int) -> None:
        with self._lock:
            self._unsynced(path, fd).keep(begin, end)

    def cuts(self, path: str, fd: int, length: int) -> None:
        with self._lock:
            unsynced = self._unsynced(path, fd)
            unsynced.keep(length, unsynced.size)

    def synced(self, fd: int) -> None:
        """An fsync of the file has ended well: its bytes are durable, and, unless it lies elsewhere, all names are
        (`committed`)."""
        with self._lock:
            if kept := self._files.pop(_key(fd), None):
                os.close(kept.fd)

    def committed(self) -> None:
        """Names are durable: some fsync has ended well."""
        with self._lock:
            gone = any(named.kept is not None for named in self._names)
            while self._names:
                self._names.popleft().survives()
            if gone:
                self._forget_gone()

    def settle(self) -> None:
        """As if everything had been synced."""
        with self._lock:
            for unsynced in self._files.values():
                os.close(unsynced.fd)
            self._files.clear()
            self.committed()

    def made(self, path: str, place: Path) -> None:
        """A name that was not there before."""
        self._named(f"{path} was not made", place.rmdir if place.is_dir() else place.unlink)

    def removes(self, path: str, place: Path) -> None:
        """Before a file loses this name."""
        kept = self._keep(place)
        self._named(f"{path} was not removed", lambda: kept.rename(place), kept)

    def removed_folder(self, path: str, place: Path) -> None:
        self._named(f"{path} was not removed", place.mkdir)

    def renames(self, old: str, old_place: Path, new: str, new_place: Path) -> None:
        """Before it is done."""
        replaced = self._keep(new_place) if new_place.is_file() else None

        def undo() -> None:
            new_place.rename(old_place)
            if replaced is not None:
                replaced.rename(new_place)

        self._named(f"{old} was not renamed to {new}", undo, replaced)
        with self._lock:
            for unsynced in self._files.values():
                unsynced.path = moved(unsynced.path, old, new)

    def lose(self) -> LostWrites:
        """Undo all of it, the latest first."""
        with self._lock:
            self._old_names_survive()
            undone = []
            for named in reversed(self._names):
                with suppress(FileNotFoundError, FileExistsError):
                    named.undo()
                undone.append(named.message)
            lengths = {}
            for unsynced in self._files.values():
                lengths[unsynced.path] = unsynced.undo()
                os.close(unsynced.fd)
            self._files.clear()
            self.close()
        return LostWrites(lengths, tuple(undone))

    def close(self) -> None:
        with self._lock:
            self._names.clear()
            shutil.rmtree(self._aside, ignore_errors=True)

    def _unsynced(self, path: str, fd: int) -> _UnsyncedFile:
        key = _key(fd)
        if key not in self._files:
            # The caller's own descriptor may be for writing only, and is closed before a power loss.
            own = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)
            self._files[key] = _UnsyncedFile(path, own, os.fstat(fd).st_size)
        return self._files[key]

    def _keep(self, place: Path) -> Path:
        """Another name for a file that is about to lose its own."""
        with self._lock:
            self._aside.mkdir(exist_ok=True)
            self._kept += 1
            kept = self._aside / str(self._kept)
        kept.hardlink_to(place)
        return kept

    def _named(self, message: str, undo: Callable[[], object], kept: Path | None = None) -> None:
        with self._lock:
            self._names.append(_NameChange(time.monotonic(), message, undo, kept))
            self._old_names_survive()

    def _old_names_survive(self) -> None:
        now = time.monotonic()
        while self._names and self._names[0].at < now - NAMES_SURVIVE_AFTER:
            self._names.popleft().survives()

    def _forget_gone(self) -> None:
        """Forget files without a name that cannot be restored."""
        for key, unsynced in list(self._files.items()):
            if not os.fstat(unsynced.fd).st_nlink:
                os.close(self._files.pop(key).fd)


def moved(path: str, old: str, new: str) -> str:
    """Return a path after `old`, the path itself or a folder above it, was renamed to `new`."""
    return new + path.removeprefix(old) if path == old or path.startswith(f"{old}/") else path


def _key(fd: int) -> tuple[int, int]:
    stat = os.fstat(fd)
    return stat.st_dev, stat.st_ino
