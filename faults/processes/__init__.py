"""Faults of whole processes: killed, stopped, restarted."""

from __future__ import annotations

from faults.fault import Fault
from faults.processes.kill import Kill
from faults.processes.pause import Pause

FAULTS: tuple[type[Fault], ...] = (
    Kill,
    Pause,
)
