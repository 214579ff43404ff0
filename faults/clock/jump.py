"""The wall clock is suddenly wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from faults.capabilities import Cluster, Evidence
from faults.clock.clock_fault import EXACT_MS, ClockFault, told


class ClockJump(ClockFault):
    """The wall clock of each node goes `ms` milliseconds forwards, or backwards if it is negative, at one moment.

    Wall clock only: monotonic clocks go on as they did, and with them all that waits for a period. Models an operator
    or a time server that sets a clock, a leap second smeared badly, a virtual machine that wakes with an old time. Does
    not model a monotonic clock that is wrong, the times of files, or timers that the kernel keeps to an absolute
    wall-clock time. Healed by a jump back. Needs `clock: own` of the node in the plan's topology.
    Source: a preloaded library in front of the C library's clocks, `harness/clock/shim.c`.
    """

    name: ClassVar[str] = "clock-jump"

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str], ms: int) -> None:
        super().__init__(cluster, tuple(nodes))
        self.ms = ms

    def targets(self) -> Mapping[str, object]:
        return {**super().targets(), "ms": self.ms}

    def inject(self) -> None:
        for name in self.names:
            self.cluster.clocks.set(name, self.ms)

    def verify(self) -> Evidence:
        return self.await_readings(
            lambda found: abs(found.ahead_ms - self.ms) <= EXACT_MS and told(found, self.ms),
            f"read in a process with the node's clock, and told to the node: {self.ms:+d} ms",
        )
