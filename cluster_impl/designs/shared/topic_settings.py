"""The settings that a topic can have. A setting without an effect is refused, never silently stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_MAX_INT = 2**31 - 1

NUMBERS: Mapping[str, tuple[int, int]] = {"min.insync.replicas": (1, _MAX_INT), "max.message.bytes": (0, _MAX_INT)}
"""Settings that are whole numbers, each with its least and greatest value."""

UNCLEAN = "unclean.leader.election.enable"

FIXED: Mapping[str, str] = {"cleanup.policy": "delete", "message.timestamp.type": "CreateTime", UNCLEAN: "false"}
"""Settings that have one possible value, which is what every design does."""


def problem_with(name: str, value: str | None, switches: Collection[str] = ()) -> str | None:
    """Return a message if a topic cannot have this setting, else None. `switches` are true or false."""
    if name in switches:
        return None if value in ("true", "false") else f"{name}={value} must be true or false."
    if name in FIXED:
        return None if value == FIXED[name] else f"{name}={value} is not supported; it can only be {FIXED[name]}."
    if name not in NUMBERS:
        return f"The setting {name} is not supported; a topic can have {', '.join([*NUMBERS, *FIXED])}."
    least, greatest = NUMBERS[name]
    if value is None or not value.isdecimal() or not least <= int(value) <= greatest:
        return f"{name}={value} must be a whole number between {least} and {greatest}."
    return None
