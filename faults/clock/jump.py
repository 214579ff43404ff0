"""The wall clock is suddenly wrong."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from fencepost.faults.capabilities import Cluster, Evidence
from fencepost.faults.clock.clock_fault import EXACT_MS, ClockFault, ClockParameters, generated, random_aim, reported
from fencepost.faults.generation import BreakableCluster, GeneratedFault
from fencepost.faults.parameters import names_in

JUMPS_MS = (-1_800_000, -60_000, -5_000, 5_000, 60_000, 1_800_000)
"""Below an hour: shipped Kafka refuses records that lie further ahead of its own clock."""
BACKWARDS_MS = tuple(ms for ms in JUMPS_MS if ms < 0)
"""The jumps for shipped Kafka: corrected after a jump forwards, it takes its last attempts to connect for ones of the
future, and makes none (AK-09)."""
SHIPPED_KAFKA = ("apache-kafka", "apache-kafka-zk")

_A_DECADE_MS = 10 * 366 * 86_400_000


def _moves(ms: int) -> int:
    if ms == 0:
        raise ValueError("a jump of 0 ms leaves the clock as it is")
    return ms


class ClockJumpParameters(ClockParameters):
    """The wall clock of nodes with `clock: own` goes forwards, or backwards if `ms` is negative. Healed by the way
    back."""

    ms: Annotated[int, Field(ge=-_A_DECADE_MS, le=_A_DECADE_MS), AfterValidator(_moves)]


class ClockJump(ClockFault):
    """The wall clock of each node goes `ms` milliseconds forwards, or backwards if it is negative, at one moment.

    Wall clock only: monotonic clocks go on as they did, and with them all that waits for a period. Models an operator
    or a time server that sets a clock, a leap second smeared badly, a virtual machine that wakes with an old time. Does
    not model a monotonic clock that is wrong, the times of files, or timers that the kernel keeps to an absolute
    wall-clock time. Healed by a jump back. Needs `clock: own` of the node in the plan's topology.
    Source: a preloaded library in front of the C library's clocks, `harness/clock/shim.c`.
    """

    name: ClassVar[str] = "clock-jump"
    phrase = "the clock of {nodes} is moved by {ms} ms"
    Parameters = ClockJumpParameters
    weight = 3

    def __init__(self, cluster: Cluster, parameters: ClockJumpParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.ms = parameters.ms

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        if not cluster.own_clocks:
            return None
        aim = random_aim(rng, cluster)
        ms = rng.choice(BACKWARDS_MS if cluster.target_name in SHIPPED_KAFKA else JUMPS_MS)
        parameters = ClockJumpParameters(nodes=aim.refs, ms=ms)
        return generated(parameters, aim, f"the clock of {aim.text} jumps by {ms / 1000:g} s", cluster)

    def targets(self) -> Mapping[str, object]:
        return {**super().targets(), "ms": self.ms}

    def inject(self) -> None:
        for name in self.names:
            self.cluster.clocks.set(name, self.ms)

    def verify(self) -> Evidence:
        return self.await_readings(
            lambda found: abs(found.ahead_ms - self.ms) <= EXACT_MS and reported(found, self.ms),
            f"read in a process with the node's clock, and in the answers to the node: {self.ms:+d} ms",
        )
