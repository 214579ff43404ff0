"""The file that a node's wall clock obeys; `shim.c` describes it, and reads it in the node's process."""

from __future__ import annotations

import mmap
import struct
import time
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"FCLOCKC1"
SETTINGS = 64
_HEAD = struct.Struct("<8sQ48x")
_CURRENT = struct.Struct("<Q")
_SETTING = struct.Struct("<qqqqq24x")
_SIZE = _HEAD.size + SETTINGS * _SETTING.size


@dataclass(frozen=True)
class ClockSetting:
    """The offset of a node's wall clock from the machine's, and the trace of its use.

    The clock is ahead (negative: behind) by `offset_ns` at `anchor_ns` of the monotonic clock, and gains `rate_ppm`
    microseconds per second from then on. `query_count` counts the queries for the time since the setting took effect,
    and `last_answer_ns` is the last answer.
    """

    offset_ns: int = 0
    rate_ppm: int = 0
    anchor_ns: int = 0
    query_count: int = 0
    last_answer_ns: int = 0


class ClockFile:
    """The clock file of one node. Processes that map it follow every change at once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """With the machine's own time, if it is not there yet."""
        if self.path.exists():
            return
        whole = _HEAD.pack(MAGIC, 0).ljust(_SIZE, b"\0")
        made = self.path.with_name(f"{self.path.name}.new")
        made.write_bytes(whole)
        made.chmod(0o666)  # in a container the node is another user
        made.replace(self.path)

    def set(self, offset_ns: int, rate_ppm: int) -> None:
        """Set the clock from now on: write an unused setting, then make it current by one store."""
        with self.path.open("r+b") as file, mmap.mmap(file.fileno(), _SIZE) as mapped:
            number = (self._current(mapped) + 1) % SETTINGS
            _SETTING.pack_into(
                mapped, _HEAD.size + number * _SETTING.size, offset_ns, rate_ppm, time.monotonic_ns(), 0, 0
            )
            _CURRENT.pack_into(mapped, len(MAGIC), number)

    def setting(self) -> ClockSetting:
        with self.path.open("r+b") as file, mmap.mmap(file.fileno(), _SIZE) as mapped:
            return ClockSetting(*_SETTING.unpack_from(mapped, _HEAD.size + self._current(mapped) * _SETTING.size))

    def _current(self, mapped: mmap.mmap) -> int:
        magic, current = _HEAD.unpack_from(mapped, 0)
        if magic != MAGIC:
            raise ValueError(f"{self.path} is no file of a node's wall clock")
        return int(current)
