"""The wall clock that a node reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class ClockReading:
    """What was measured of a node's wall clock. `ahead` is in milliseconds, and negative for a clock that is behind.

    `ahead_ms`: of the machine's, as a process met it that was started with the node's clock. `at`: when, in seconds of
    the monotonic clock. `unfollowed`: None if the process table shows that the node's own process has this clock, else
    a sentence. `asked`: how often the node's process read it since it was last set; `told_ms`: between which bounds its
    last answer was ahead, None if it never asked.
    """

    ahead_ms: float
    at: float
    unfollowed: str | None
    asked: int
    told_ms: tuple[float, float] | None


class Clocks(Protocol):
    """Set and measure the wall clocks of nodes whose plan says `clock: own`; CapabilityError for any other node."""

    def set(self, node: str, ahead_ms: int, rate_ppm: int = 0) -> None:
        """From now on it is so far ahead of the machine's; `rate_ppm` microseconds more with every second."""

    def read(self, node: str) -> ClockReading: ...
