"""The settings that topics and brokers can have. A setting without an effect is refused, never silently stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_MAX_INT = 2**31 - 1

NUMBERS: Mapping[str, tuple[int, int]] = {
    "min.insync.replicas": (1, _MAX_INT),
    "max.message.bytes": (0, _MAX_INT),
    "segment.bytes": (14, _MAX_INT),
}
"""Settings that are whole numbers, each with its least and greatest value."""

UNCLEAN = "unclean.leader.election.enable"

TOPIC_SETTING: Mapping[str, str] = {
    "min.insync.replicas": "min.insync.replicas",
    "message.max.bytes": "max.message.bytes",
    "log.segment.bytes": "segment.bytes",
}
"""The settings of brokers that can be changed at run time, each with the name that a topic's own value has."""

_BROKER_NUMBERS: Mapping[str, tuple[int, int]] = {
    "min.insync.replicas": NUMBERS["min.insync.replicas"],
    "message.max.bytes": NUMBERS["max.message.bytes"],
    "log.segment.bytes": NUMBERS["segment.bytes"],
}

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
    return _problem_with_number(name, value, *NUMBERS[name])


def problem_with_broker_setting(name: str, value: str | None) -> str | None:
    """Return a message if a broker cannot be given this setting at run time, else None."""
    if name not in _BROKER_NUMBERS:
        return f"The setting {name} cannot be changed at run time; a broker has {', '.join(_BROKER_NUMBERS)}."
    return _problem_with_number(name, value, *_BROKER_NUMBERS[name])


def below_topics(settings: Mapping[str, str]) -> dict[str, str]:
    """Return a broker's run-time settings under the names that a topic's own settings have."""
    return {TOPIC_SETTING[name]: value for name, value in settings.items() if name in TOPIC_SETTING}


def _problem_with_number(name: str, value: str | None, least: int, greatest: int) -> str | None:
    if value is None or not value.isdecimal() or not least <= int(value) <= greatest:
        return f"{name}={value} must be a whole number between {least} and {greatest}."
    return None
