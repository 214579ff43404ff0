"""Steps that set wall clocks wrong: `faults.clock`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from harness.plan.base import NodeRefs
from harness.plan.injects.base import InjectStep

_A_DECADE_MS = 10 * 366 * 86_400_000
_STANDS_STILL = -1_000_000
_SLOWEST_PPM = 10


def _moves(ms: int) -> int:
    if ms == 0:
        raise ValueError("a jump of 0 ms leaves the clock as it is")
    return ms


def _shows(ppm: int) -> int:
    if abs(ppm) < _SLOWEST_PPM:
        raise ValueError(f"a clock that is less than {_SLOWEST_PPM} ppm off cannot be told from a right one in a run")
    return ppm


class InjectClockJump(InjectStep):
    """The wall clock of nodes with `clock: own` goes forwards, or backwards if `ms` is negative. Healed by the way
    back."""

    fault: Literal["clock-jump"] = "clock-jump"
    nodes: NodeRefs
    ms: Annotated[int, Field(ge=-_A_DECADE_MS, le=_A_DECADE_MS), AfterValidator(_moves)]


class InjectClockSkew(InjectStep):
    """The wall clock of nodes with `clock: own` gains `ppm` microseconds a second, or loses them if it is negative.
    Healed by a jump to the machine's time."""

    fault: Literal["clock-skew"] = "clock-skew"
    nodes: NodeRefs
    ppm: Annotated[int, Field(ge=_STANDS_STILL, le=-_STANDS_STILL), AfterValidator(_shows)]


InjectClock = InjectClockJump | InjectClockSkew
