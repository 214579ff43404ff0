"""Faults of whole processes: killed, stopped, restarted."""

from __future__ import annotations

from faults.fault import Fault
from faults.processes.crash_loop import CrashLoop
from faults.processes.emptied import Emptied
from faults.processes.kill import Kill
from faults.processes.late_bytes import LateBytes
from faults.processes.pause import Pause
from faults.processes.restored import Restored
from faults.processes.rolling_restart import RollingRestart
from faults.processes.terminate import Terminate

FAULTS: tuple[type[Fault], ...] = (
    Kill,
    Terminate,
    Pause,
    CrashLoop,
    RollingRestart,
    Emptied,
    Restored,
    LateBytes,
)
