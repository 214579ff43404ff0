"""Ages that users write."""

from __future__ import annotations

import re
from datetime import timedelta

from fencepost.harness.errors import UsageError

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def days(text: str) -> timedelta:
    """Return the time that `180d`, `26w`, `6m` or `1y` names. UsageError for anything else."""
    found = re.fullmatch(r"(\d{1,5})([dwmy])", text)
    if found is None:
        raise UsageError(f"{text!r} is no age: write a number with d, w, m or y, such as 180d")
    return timedelta(days=int(found[1]) * _DAYS[found[2]])
