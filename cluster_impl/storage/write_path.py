"""Appending to a file so that the page cache stays small.

A plain append of much data spends most of its time in the kernel, which has to find and clear fresh pages for the
cache. Writing back early and dropping what was written lets it use the same pages again: with three replicas on one
machine, 233 MB/s in place of 133 at 1 KB records. (`RWF_DONTCACHE` does the same in one flag, but costs more for
small writes and needs Linux 6.14.) Where sync_file_range does not exist, appends are plain; the file is the same.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence

from fencepost.cluster_impl.wire.codec import Buffer

WINDOW_BYTES = 4 * 1024 * 1024

_SYNC_FILE_RANGE_WRITE = 2


class Appender:
    """Appends to an open file. Every `WINDOW_BYTES` starts to write back the last window and drops the one before."""

    def __init__(self, fd: int, size: int) -> None:
        self.size = size
        self._fd = fd
        self._started = size
        """Write-back has been started for everything before."""
        self._dropped = size

    def append(self, buffers: Sequence[Buffer]) -> None:
        """Append all or nothing: after an OSError (a full disk) the file is as long as before."""
        try:
            written = os.writev(self._fd, buffers) if len(buffers) <= _IOV_MAX else 0
            total = sum(map(len, buffers))
            if written < total:
                self._write_rest(memoryview(b"".join(buffers))[written:])
        except OSError:
            os.ftruncate(self._fd, self.size)
            raise
        self.size += total
        if self.size - self._started >= WINDOW_BYTES:
            self._move_window()

    def _write_rest(self, rest: memoryview) -> None:
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def truncate(self, size: int) -> None:
        os.ftruncate(self._fd, size)
        self.size = size
        self._started = min(self._started, size)
        self._dropped = min(self._dropped, size)

    def _move_window(self) -> None:
        if _start_write_back is not None:
            _start_write_back(self._fd, self._started, self.size - self._started, _SYNC_FILE_RANGE_WRITE)
            os.posix_fadvise(self._fd, self._dropped, self._started - self._dropped, os.POSIX_FADV_DONTNEED)
        self._dropped, self._started = self._started, self.size


def _find_sync_file_range() -> Callable[[int, int, int, int], int] | None:
    function = getattr(ctypes.CDLL(None), "sync_file_range", None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    return function


_start_write_back = _find_sync_file_range()
_IOV_MAX = os.sysconf("SC_IOV_MAX")
