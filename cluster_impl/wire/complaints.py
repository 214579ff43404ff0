"""The log lines about bad clients, which must not fill the disk."""

from __future__ import annotations

_COMPLAINTS, _COMPLAINTS_PERIOD = 20, 10.0
"""The log lines in so many seconds."""


class Complaints:
    """Lets through a few log lines of each period, so that bad clients cannot fill the disk. Times are seconds."""

    def __init__(self) -> None:
        self._since = float("-inf")
        self._logged = 0
        self._left_out = 0

    def count(self, now: float) -> int | None:
        """Return None if the line is left out, else how many were left out since the last one that was logged."""
        if now - self._since >= _COMPLAINTS_PERIOD:
            self._since, self._logged = now, 0
        if self._logged >= _COMPLAINTS:
            self._left_out += 1
            return None
        self._logged += 1
        left_out, self._left_out = self._left_out, 0
        return left_out
