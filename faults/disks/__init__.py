"""Faults of disks: what a log directory does not take, give back or keep."""

from __future__ import annotations

from faults.disks.bit_flip import BitFlip
from faults.disks.disk_error import DiskError
from faults.disks.disk_full import DiskFull
from faults.disks.disk_read_only import DiskReadOnly
from faults.disks.disk_slow import DiskSlow
from faults.disks.log_dir import LogDir
from faults.disks.power_loss import PowerLoss
from faults.disks.torn_write import TornWrite
from faults.fault import Fault

FAULTS: tuple[type[Fault], ...] = (
    LogDir,
    DiskError,
    DiskSlow,
    DiskFull,
    DiskReadOnly,
    TornWrite,
    PowerLoss,
    BitFlip,
)
