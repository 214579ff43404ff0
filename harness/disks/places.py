"""Places on a disk: where the harness tries operations, where the records of the last batch are, and whether a place in
a file is still the same."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from fencepost.faults.capabilities import CapabilityError

PROBE = ".fencepost-probe"
"""The folder beside a mounted directory whose files the harness tries operations on."""

_FRAME = struct.Struct(">qi")
"""A batch begins with its base offset and the number of bytes behind these two."""
_HEADER = 61
"""Bytes of a batch before its records."""
_BEFORE = 32
"""Bytes by which, with the one behind them, a place in a file is known again."""


def in_last_batch(content: bytes, byte: int, file: str) -> int:
    """Return the offset of a byte in the records of the last whole batch, modulo their size."""
    begin = position = 0
    end = 0
    while position + _FRAME.size <= len(content):
        _, length = _FRAME.unpack_from(content, position)
        following = position + _FRAME.size + length
        if length <= _HEADER - _FRAME.size or following > len(content):
            break
        begin, end, position = position, following, following
    if end == 0:
        raise CapabilityError(f"{file} holds no whole batch")
    return begin + _HEADER + byte % (end - begin - _HEADER)


def bytes_before(file: Path, offset: int) -> bytes:
    """Return the byte at an offset with those before it."""
    begin = max(0, offset - _BEFORE)
    with file.open("rb") as opened:
        opened.seek(begin)
        return opened.read(offset + 1 - begin)


def forget(file: Path) -> None:
    """Drop the page cache of a file."""
    with file.open("rb") as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
