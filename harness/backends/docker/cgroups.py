"""The state of a container in the kernel: whether it is frozen, its limits, and how often they applied.

All of it is read from the control groups (version 1 or 2) of its process on this machine.
"""

from __future__ import annotations

import os
from pathlib import Path

from fencepost.faults.capabilities import Limits

ROOT = Path("/sys/fs/cgroup")
PROC = Path("/proc")


def is_frozen(pid: int) -> bool | None:
    """Return whether the control group of this process is frozen; None if the kernel does not show it."""
    if text := _read(_folder(pid, "freezer"), "freezer.state"):
        return text == "FROZEN"
    if text := _read(_folder(pid, ""), "cgroup.events"):
        return _values(text).get("frozen") == 1
    return None


def limits(pid: int) -> Limits:
    unified = _folder(pid, "")
    if (quota := _read(unified, "cpu.max")) is not None:
        share, period = quota.split()
        return Limits(
            _number(_read(unified, "memory.max")),
            _number(_read(unified, "memory.current")),
            None if share == "max" else int(share) / int(period),
            _values(_read(unified, "cpu.stat") or "").get("nr_throttled"),
        )
    memory, cpu = _folder(pid, "memory"), _folder(pid, "cpu")
    share_us, period_us = _number(_read(cpu, "cpu.cfs_quota_us")), _number(_read(cpu, "cpu.cfs_period_us"))
    limited = share_us is not None and share_us > 0 and period_us
    return Limits(
        _number(_read(memory, "memory.limit_in_bytes")),
        _number(_read(memory, "memory.usage_in_bytes")),
        share_us / period_us if limited and share_us and period_us else None,
        _values(_read(cpu, "cpu.stat") or "").get("nr_throttled"),
    )


def memory_of_the_machine() -> int:
    """Return the memory of this machine in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


UNLIMITED = 1 << 60
"""Version 1 writes no limit as a number of about this size."""


def _number(text: str | None) -> int | None:
    if text is None or text == "max":
        return None
    number = int(text)
    return None if number >= UNLIMITED else number


def _values(text: str) -> dict[str, int]:
    pairs = (line.split() for line in text.splitlines())
    return {name: int(value) for name, value in pairs}


def _folder(pid: int, controller: str) -> Path | None:
    """Return the folder of a process's group for one controller; version 2 has one group, whose controller is ``."""
    try:
        lines = (PROC / str(pid) / "cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            mount = ROOT / controller if controller else ROOT
            return mount / path.lstrip("/")
    return None


def _read(folder: Path | None, name: str) -> str | None:
    if folder is None:
        return None
    try:
        return (folder / name).read_text().strip()
    except OSError:
        return None
