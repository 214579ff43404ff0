"""The earlier content of files: what their latest changes wrote over, cut off and replaced.

Nothing is kept, and nothing is read, before `begin`. From then on each change is kept with the bytes that it took away;
the bytes of an appending write are none, so it costs `_CHANGE` bytes alone. Where the bytes of all changes of a log
directory exceed `HISTORY_BYTES`, the oldest are given up.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.disks.undo import moved

BLOCK = 4096
"""Bytes that a disk writes, or loses, as one."""
HISTORY_BYTES = 16 << 20
"""For each log directory; its process takes as much memory for it."""
_CHANGE = 280
"""Bytes of a change beside those that it took away."""


@dataclass(frozen=True, slots=True)
class _Change:
    """The bytes of a file from `begin` to `end` were `before`; where that ends there were zeros, or none."""

    at: float
    begin: int
    end: int
    before: bytes
    cut: bool = False
    """The file was longer before."""

    @property
    def cost(self) -> int:
        return _CHANGE + len(self.before)

    def undo(self, block: bytearray, offset: int) -> None:
        """Undo it in the part of the file that begins at `offset`."""
        first, last = max(self.begin, offset), min(self.end, offset + len(block))
        if first < last:
            known = self.before[first - self.begin : last - self.begin]
            block[first - offset : last - offset] = known.ljust(last - first, b"\0")


class BlockHistory:
    """Takes each change before it happens, from many threads. `path`: in the log directory."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._changes: dict[str, deque[_Change]] = {}
        self._bytes = 0
        self._lock = threading.RLock()

    def begin(self) -> float:
        """Keep changes from now on. Return since how many seconds they are kept."""
        with self._lock:
            if self._began is None:
                self._began = time.monotonic()
            return time.monotonic() - self._began

    def writes(self, path: str, fd: int, begin: int, end: int) -> None:
        if self._began is not None:
            self._add(path, begin, end, os.pread(fd, end - begin, begin))

    def cuts(self, path: str, fd: int, length: int) -> None:
        """Before a file is given this length, which may be more than it has."""
        if self._began is None:
            return
        size = os.fstat(fd).st_size
        if size - length > HISTORY_BYTES:
            self.removes(path)
        else:
            before = os.pread(fd, max(0, size - length), length)
            self._add(path, min(size, length), max(size, length), before, cut=length < size)

    def removes(self, path: str) -> None:
        with self._lock:
            self._bytes -= sum(change.cost for change in self._changes.pop(path, ()))

    def renames(self, old: str, old_place: Path, new: str, new_place: Path) -> None:
        """Before it is done. What a file replaces counts as the earlier content of the file, as if written over."""
        if self._began is None:
            return
        with self._lock:
            if not new_place.is_file():
                self._changes = {moved(path, old, new): changes for path, changes in self._changes.items()}
                return
            self.removes(old)
            if (size := new_place.stat().st_size) > HISTORY_BYTES:
                self.removes(new)
            else:
                self._add(new, 0, max(size, old_place.stat().st_size), new_place.read_bytes())

    def paths(self) -> list[str]:
        """Return the files of which any change is known, the latest names first."""
        with self._lock:
            return sorted(self._changes, reverse=True)

    def earlier(self, path: str, fd: int, age: float, *, behind_cuts: bool) -> Mapping[int, bytes]:
        """Return the blocks that differ from what the file holds now, by number, as they were `age` seconds ago.

        At least as they were before the latest change that left a block different. As long as the blocks are now; what
        was not there then is zeros. No further back than what is known, and, unless `behind_cuts`, than the last cut.
        """
        now: dict[int, bytes] = {}
        then: dict[int, bytearray] = {}
        size = os.fstat(fd).st_size
        since = time.monotonic() - age
        with self._lock:
            changes = list(self._changes.get(path, ()))
        for change in reversed(changes):
            past = change.at < since and any(then[number] != now[number] for number in now)
            if past or (change.cut and not behind_cuts):
                break
            for number in range(change.begin // BLOCK, -(-min(change.end, size) // BLOCK)):
                if number not in now:
                    now[number] = os.pread(fd, BLOCK, number * BLOCK)
                    then[number] = bytearray(now[number])
                change.undo(then[number], number * BLOCK)
        return {number: bytes(then[number]) for number in sorted(now) if then[number] != now[number]}

    def _add(self, path: str, begin: int, end: int, before: bytes, *, cut: bool = False) -> None:
        """Zeros at the end of `before` are known without being kept."""
        change = _Change(time.monotonic(), begin, end, before.rstrip(b"\0"), cut)
        with self._lock:
            self._changes.setdefault(path, deque()).append(change)
            self._bytes += change.cost
            while self._bytes > HISTORY_BYTES:
                oldest = min(self._changes, key=lambda each: self._changes[each][0].at)
                self._bytes -= self._changes[oldest].popleft().cost
                if not self._changes[oldest]:
                    del self._changes[oldest]
