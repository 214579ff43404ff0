"""What the faults of the wall clock share: whose clock it is, the proof, and the way back to the machine's time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from faults.capabilities import Capability, CapabilityError, ClockReading, Cluster, Evidence
from faults.lives_on import LivesOn

PATIENCE = 10.0
"""Seconds until a clock has to be measured as wanted: a probe is a new process each time."""
ASKED_WITHIN = 1.0
"""Seconds in which most nodes ask for the time by themselves; one that does not cannot have been told."""
EXACT_MS = 5.0
"""By so much measurements of a clock that is as wanted may be off: a clock may only be kept by the tick (4 ms)."""

Judge = Callable[[ClockReading], bool]


@dataclass
class ClockFault(LivesOn):
    """A fault of the wall clock of some nodes.

    The process lives on, so it is none of the fault's `nodes()`: it may be killed, paused and started meanwhile, and
    has the same clock afterwards.
    """

    cluster: Cluster
    names: tuple[str, ...]
    capability: ClassVar[Capability] = Capability.CLOCK

    def targets(self) -> Mapping[str, object]:
        return {"nodes": list(self.names)}

    def set_up(self) -> None:
        """CapabilityError unless each runs with a wall clock of its own that shows the machine's time."""
        if not self.names:
            raise CapabilityError("nobody's clock to change: the plan's reference led to no node")
        for name in self.names:
            found = self.cluster.clocks.read(name)
            if found.unfollowed is not None:
                raise CapabilityError(f"cannot change the wall clock of {name}: {found.unfollowed}")
            if abs(found.ahead_ms) > EXACT_MS:
                raise CapabilityError(
                    f"the wall clock of {name} is {found.ahead_ms:+.1f} ms off the machine's already: heal that first"
                )

    def recover(self) -> None:
        for name in self.names:
            self.cluster.clocks.set(name, 0)

    def verify_healed(self) -> Evidence:
        """Of a process that is not there any more only the clock is measured that the next one will have."""
        return self.await_readings(right, "each wall clock shows the machine's time again", also_gone=True)

    def await_readings(self, wanted: Judge, how: str, *, also_gone: bool = False) -> Evidence:
        """Measure until each clock is as wanted and was asked for the time, or shortly nobody asked."""
        began = time.monotonic()
        while True:
            found = {name: self.cluster.clocks.read(name) for name in self.names}
            proven = all(wanted(each) and (also_gone or each.unfollowed is None) for each in found.values())
            waited = time.monotonic() - began
            if proven and (waited > ASKED_WITHIN or all(each.asked for each in found.values())):
                return Evidence(True, how, measured(found))
            if not proven and waited > PATIENCE:
                return Evidence(False, _against(found), measured(found))
            time.sleep(0.02)


def right(found: ClockReading) -> bool:
    return abs(found.ahead_ms) <= EXACT_MS and told(found, 0)


def told(found: ClockReading, wanted_ms: float) -> bool:
    """Whether the node itself was told a time that is so far ahead, or never asked."""
    if found.told_ms is None:
        return True
    least, most = found.told_ms
    return least - EXACT_MS <= wanted_ms <= most + EXACT_MS


def measured(found: Mapping[str, ClockReading]) -> dict[str, object]:
    """For the journal. Milliseconds."""
    return {
        name: {
            "ahead_ms": round(each.ahead_ms, 3),
            "asked": each.asked,
            "told_ms": None if each.told_ms is None else [round(bound, 3) for bound in each.told_ms],
            **({} if each.unfollowed is None else {"unfollowed": each.unfollowed}),
        }
        for name, each in found.items()
    }


def _against(found: Mapping[str, ClockReading]) -> str:
    return "; ".join(
        each.unfollowed or f"the wall clock of {name} is {each.ahead_ms:+.3f} ms off the machine's"
        for name, each in found.items()
    )
