"""The wall clock that a node reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class ClockReading:
    """A measurement of a node's wall clock. Offsets are in milliseconds, and negative for a clock that is behind.

    `ahead_ms`: the offset from the machine's clock, read in a process that was started with the node's clock. `at`: the
    time of the reading, in seconds of the monotonic clock. `unfollowed`: None if the process table shows that the
    node's own process has this clock, else a message. `asked`: how often the node's process read it since it was last
    set. `reported_ms`: the bounds of the offset in the last answer to the node's process, None if it never asked.
    """

    ahead_ms: float
    at: float
    unfollowed: str | None
    asked: int
    reported_ms: tuple[float, float] | None


class Clocks(Protocol):
    """Set and measure the wall clocks of nodes whose plan says `clock: own`; CapabilityError for any other node."""

    def set(self, node: str, ahead_ms: int, rate_ppm: int = 0) -> None:
        """Set the clock this far ahead of the machine's; it gains `rate_ppm` microseconds more with every second."""

    def read(self, node: str) -> ClockReading: ...
