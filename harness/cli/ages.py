"""Ages and times that users write."""

from __future__ import annotations

import re
from datetime import timedelta

from fencepost.harness.errors import UsageError

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


_HOURS = {"m": 1 / 60, "h": 1.0, "d": 24.0}


def hours(text: str) -> float:
    """Return the hours that `90m`, `8h`, `1.5h` or `2d` names. UsageError for anything else, and for none."""
    found = re.fullmatch(r"(\d{1,5}(?:\.\d{1,3})?)([mhd])", text)
    if found is None or not float(found[1]):
        raise UsageError(f"{text!r} is no time: write a number with m, h or d, such as 8h")
    return float(found[1]) * _HOURS[found[2]]


def days(text: str) -> timedelta:
    """Return the time that `180d`, `26w`, `6m` or `1y` names. UsageError for anything else."""
    found = re.fullmatch(r"(\d{1,5})([dwmy])", text)
    if found is None:
        raise UsageError(f"{text!r} is no age: write a number with d, w, m or y, such as 180d")
    return timedelta(days=int(found[1]) * _DAYS[found[2]])
