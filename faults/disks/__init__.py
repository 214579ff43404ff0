"""Faults of disks: what a log directory does not take, give back or keep."""

from __future__ import annotations

from faults.disks.log_dir import LogDir
from faults.fault import Fault

FAULTS: tuple[type[Fault], ...] = (LogDir,)
