"""Estimates of the time that is left, for all commands that take long."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EtaEstimator:
    """Estimates the time left of many runs from those that have ended. `began` is in monotonic seconds."""

    began: float

    def left(self, now: float, *, done: int, waiting: int) -> float | None:
        """Return about how many seconds are left; None before the first run has ended, and after the last one."""
        return (now - self.began) / done * waiting if done and waiting else None


def duration(seconds: float) -> str:
    """Return `45 s`, or `2 min 5 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def about_left(left: float | None) -> str:
    """Return `about 45 s left`, or an empty string if the time is not known."""
    return "" if left is None else f"about {duration(left)} left"
