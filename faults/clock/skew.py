"""The wall clock goes at the wrong speed."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from fencepost.faults.capabilities import ClockReading, Cluster, Evidence
from fencepost.faults.clock import clock_fault
from fencepost.faults.clock.clock_fault import ClockFault, ClockParameters, generated, measured, random_aim
from fencepost.faults.generation import BreakableCluster, GeneratedFault
from fencepost.faults.parameters import names_in

SHOWS_MS = 1.0
"""The offset at which the speed is measured: a hundred times the error of a measurement."""
ALIKE = 0.2
"""The tolerance of the measured speed, as a fraction."""


SKEWS_PPM = (-200_000, -10_000, 10_000, 200_000)
_STANDS_STILL = -1_000_000
_SLOWEST_PPM = 10


def _shows(ppm: int) -> int:
    if abs(ppm) < _SLOWEST_PPM:
        raise ValueError(
            f"a clock that is less than {_SLOWEST_PPM} ppm off cannot be distinguished from a right one in a run"
        )
    return ppm


class ClockSkewParameters(ClockParameters):
    """The wall clock of nodes with `clock: own` gains `ppm` microseconds a second, or loses them if it is negative.
    Healed by a jump to the machine's time."""

    ppm: Annotated[int, Field(ge=_STANDS_STILL, le=-_STANDS_STILL), AfterValidator(_shows)]


class ClockSkew(ClockFault):
    """The wall clock of each node gains `ppm` microseconds in each second, or loses them if it is negative.

    Wall clock only, as `clock-jump`. Models a bad oscillator or a virtual machine that is starved of ticks, with no
    time server: 50 ppm is a poor quartz, thousands only show sooner what it does in weeks. At -1000000 the clock
    stands still. Healed by a jump back to the machine's time. Needs `clock: own` of the node in the plan's topology.
    Source: as `clock-jump`.
    """

    name: ClassVar[str] = "clock-skew"
    phrase = "the clock of {nodes} is skewed by {ppm} ppm"
    Parameters = ClockSkewParameters
    weight = 2

    def __init__(self, cluster: Cluster, parameters: ClockSkewParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.ppm = parameters.ppm

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        if not cluster.own_clocks:
            return None
        aim, ppm = random_aim(rng, cluster), rng.choice(SKEWS_PPM)
        parameters = ClockSkewParameters(nodes=aim.refs, ppm=ppm)
        return generated(parameters, aim, f"the clock of {aim.text} is {ppm / 10_000:g} % wrong", cluster)

    def targets(self) -> Mapping[str, object]:
        return {**super().targets(), "ppm": self.ppm}

    def inject(self) -> None:
        for name in self.names:
            self.cluster.clocks.set(name, 0, self.ppm)

    def verify(self) -> Evidence:
        """Compare two readings of each clock, so far apart that the wanted speed shows."""
        first = {name: self.cluster.clocks.read(name) for name in self.names}
        began, shows_after = time.monotonic(), SHOWS_MS / (abs(self.ppm) / 1000)
        while True:
            found = {name: self.cluster.clocks.read(name) for name in self.names}
            waited = time.monotonic() - began
            if waited >= shows_after and (proven := all(map(self._skewed, first.values(), found.values()))):
                break
            if waited > shows_after + clock_fault.TIMEOUT_S:
                proven = False
                break
            time.sleep(min(0.1, max(0.01, shows_after - waited)))
        speeds = {name: _ppm(first[name], found[name]) for name in self.names}
        how = "; ".join(f"the wall clock of {name} gains {speed:+.1f} ppm" for name, speed in speeds.items())
        unfollowed = [clock.unfollowed for clock in found.values() if clock.unfollowed is not None]
        return Evidence(proven, "; ".join([how, *unfollowed]), {**measured(found), "ppm": speeds})

    def _skewed(self, first: ClockReading, last: ClockReading) -> bool:
        alike = abs(_ppm(first, last) - self.ppm) <= ALIKE * abs(self.ppm)
        return alike and last.unfollowed is None


def _ppm(first: ClockReading, last: ClockReading) -> float:
    elapsed = last.at - first.at
    return round(1000 * (last.ahead_ms - first.ahead_ms) / elapsed, 3) if elapsed > 0 else 0.0
