"""Faults of containers: off the network, short of memory, short of processor."""

from __future__ import annotations

from faults.containers.cpu import Cpu
from faults.containers.disconnect import Disconnect
from faults.containers.memory import Memory
from faults.fault import Fault

FAULTS: tuple[type[Fault], ...] = (Disconnect, Memory, Cpu)
