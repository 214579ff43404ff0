"""The wall clock goes at the wrong speed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from faults.capabilities import ClockReading, Cluster, Evidence
from faults.clock import clock_fault
from faults.clock.clock_fault import ClockFault, measured

SHOWS_MS = 1.0
"""A clock has to have gone so far astray before its speed is measured: a hundred times what a measurement is off by."""
ALIKE = 0.2
"""By which part the measured speed may differ from the wanted one."""


class ClockSkew(ClockFault):
    """The wall clock of each node gains `ppm` microseconds in each second, or loses them if it is negative.

    Wall clock only, as `clock-jump`. Models a bad oscillator or a virtual machine that is starved of ticks, with no
    time server: 50 ppm is a poor quartz, thousands only show sooner what it does in weeks. At -1000000 the clock
    stands still. Healed by a jump back to the machine's time. Needs `clock: own` of the node in the plan's topology.
    Source: as `clock-jump`.
    """

    name: ClassVar[str] = "clock-skew"

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str], ppm: int) -> None:
        super().__init__(cluster, tuple(nodes))
        self.ppm = ppm

    def targets(self) -> Mapping[str, object]:
        return {**super().targets(), "ppm": self.ppm}

    def inject(self) -> None:
        for name in self.names:
            self.cluster.clocks.set(name, 0, self.ppm)

    def verify(self) -> Evidence:
        """By two readings of each clock, so far apart that the wanted speed shows."""
        first = {name: self.cluster.clocks.read(name) for name in self.names}
        began, shows_after = time.monotonic(), SHOWS_MS / (abs(self.ppm) / 1000)
        while True:
            found = {name: self.cluster.clocks.read(name) for name in self.names}
            waited = time.monotonic() - began
            if waited >= shows_after and (proven := all(map(self._skewed, first.values(), found.values()))):
                break
            if waited > shows_after + clock_fault.PATIENCE:
                proven = False
                break
            time.sleep(min(0.1, max(0.01, shows_after - waited)))
        speeds = {name: _ppm(first[name], found[name]) for name in self.names}
        how = "; ".join(f"the wall clock of {name} gains {speed:+.1f} ppm" for name, speed in speeds.items())
        unfollowed = [each.unfollowed for each in found.values() if each.unfollowed is not None]
        return Evidence(proven, "; ".join([how, *unfollowed]), {**measured(found), "ppm": speeds})

    def _skewed(self, first: ClockReading, last: ClockReading) -> bool:
        alike = abs(_ppm(first, last) - self.ppm) <= ALIKE * abs(self.ppm)
        return alike and last.unfollowed is None


def _ppm(first: ClockReading, last: ClockReading) -> float:
    elapsed = last.at - first.at
    return round(1000 * (last.ahead_ms - first.ahead_ms) / elapsed, 3) if elapsed > 0 else 0.0
