"""Faults of the wall clock: it jumps, or goes too fast or too slow."""

from __future__ import annotations

from faults.clock.jump import ClockJump
from faults.clock.skew import ClockSkew
from faults.fault import Fault

FAULTS: tuple[type[Fault], ...] = (
    ClockJump,
    ClockSkew,
)
