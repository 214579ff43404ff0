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
class Setting:
    """By how much a clock is ahead (negative: behind): `offset_ns` at `anchor_ns` of the monotonic clock, and from then
    on `rate_ppm` microseconds more in each second. `asked` and `told_ns`: how often processes asked for the time since
    it holds, and the last answer."""

    offset_ns: int = 0
    rate_ppm: int = 0
    anchor_ns: int = 0
    asked: int = 0
    told_ns: int = 0


class ClockFile:
    """Of one node. A process that maps the file follows it at once, and so does one that is started later."""

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
        """From now on; a setting that does not count is written, then made to count by one store."""
        with self.path.open("r+b") as file, mmap.mmap(file.fileno(), _SIZE) as mapped:
            number = (self._current(mapped) + 1) % SETTINGS
            _SETTING.pack_into(
                mapped, _HEAD.size + number * _SETTING.size, offset_ns, rate_ppm, time.monotonic_ns(), 0, 0
            )
            _CURRENT.pack_into(mapped, len(MAGIC), number)

    def setting(self) -> Setting:
        """The one that counts now."""
        with self.path.open("r+b") as file, mmap.mmap(file.fileno(), _SIZE) as mapped:
            return Setting(*_SETTING.unpack_from(mapped, _HEAD.size + self._current(mapped) * _SETTING.size))

    def _current(self, mapped: mmap.mmap) -> int:
        magic, current = _HEAD.unpack_from(mapped, 0)
        if magic != MAGIC:
            raise ValueError(f"{self.path} is no file of a node's wall clock")
        return int(current)
