"""Time stamps and durations as the reports of many runners write them."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, tzinfo
from email.utils import parsedate_to_datetime
from typing import Final

FIRST_YEAR: Final = 2000
"""Earlier years are those of an unset clock: 1970 (GoogleTest, jest-junit), 1 (gotestsum)."""
_UNITS: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
}
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|sec|s|min|m|h)")
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+")


def time_stamp(text: str | None) -> datetime | None:
    """Return the time of an ISO 8601, `... UTC` or RFC 1123 stamp; without a zone if it has none.

    None for one that cannot be read, or that is of an unset clock.
    """
    text = (text or "").strip()
    if not text:
        return None
    try:
        found = datetime.fromisoformat(re.sub(r"\s*(?:UTC|GMT)$", "+00:00", text) if text[0].isdigit() else text)
    except ValueError:
        try:
            found = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError):
            return None
    return found if found.year >= FIRST_YEAR else None


def in_zone(time: datetime, zone: tzinfo | None) -> datetime:
    """Return a time in UTC; one without a zone is of `zone`, or of that of this machine for None."""
    if time.tzinfo is None and zone is not None:
        time = time.replace(tzinfo=zone)
    return time.astimezone(UTC)


def seconds(text: str | None) -> float | None:
    """Return a duration: `0.11`, `0,11`, `1,000.5`, `0.11s`, `1m2s`; None if it is negative or cannot be read."""
    text = (text or "").strip().removeprefix("+")
    parts = _PART.findall(text)
    if parts and not _PART.sub("", text).strip():
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    if "." in text or _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
