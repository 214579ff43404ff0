"""The settings that topics and brokers can have. A setting without an effect is refused, never silently stored."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping

log = logging.getLogger(__name__)

_MAX_INT = 2**31 - 1
_MAX_LONG = 2**63 - 1

NUMBERS: Mapping[str, tuple[int, int]] = {
    "min.insync.replicas": (1, _MAX_INT),
    "max.message.bytes": (0, _MAX_INT),
    "segment.bytes": (14, _MAX_INT),
    "segment.ms": (1, _MAX_LONG),
    "retention.ms": (-1, _MAX_LONG),
    "retention.bytes": (-1, _MAX_LONG),
    "delete.retention.ms": (0, _MAX_LONG),
}
"""Settings that are whole numbers, each with its least and greatest value."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "cleanup.policy": ("delete", "compact", "compact,delete", "delete,compact"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime"),
}
"""Settings that have one of a few values, the default first."""

SHARES = ("min.cleanable.dirty.ratio",)
"""Settings that are a number from 0 to 1."""

UNCLEAN = "unclean.leader.election.enable"

TOPIC_SETTING: Mapping[str, str] = {
    "min.insync.replicas": "min.insync.replicas",
    "message.max.bytes": "max.message.bytes",
    "log.segment.bytes": "segment.bytes",
    "log.roll.ms": "segment.ms",
    "log.retention.ms": "retention.ms",
    "log.retention.bytes": "retention.bytes",
}
"""The settings of brokers that can be changed at run time, each with the name that a topic's own value has."""

_BROKER_NUMBERS: Mapping[str, tuple[int, int]] = {
    name: NUMBERS[of_topic] for name, of_topic in TOPIC_SETTING.items() if of_topic in NUMBERS
}

FIXED: Mapping[str, str] = {UNCLEAN: "false"}
"""Settings that have one possible value, which is what every design does."""


def problem_with(name: str, value: str | None, switches: Collection[str] = ()) -> str | None:
    """Return a message if a topic cannot have this setting, else None. `switches` are true or false."""
    if name in switches:
        return None if value in ("true", "false") else f"{name}={value} must be true or false."
    if name in FIXED:
        return None if value == FIXED[name] else f"{name}={value} is not supported; it can only be {FIXED[name]}."
    if name in CHOICES:
        return None if value in CHOICES[name] else f"{name}={value} must be one of {' or '.join(CHOICES[name])}."
    if name in SHARES:
        return None if _is_share(value) else f"{name}={value} must be a number from 0 to 1."
    if name not in NUMBERS:
        known = ", ".join([*NUMBERS, *CHOICES, *SHARES, *FIXED])
        return f"The setting {name} is not supported; a topic can have {known}."
    return _problem_with_number(name, value, *NUMBERS[name])


def problem_with_broker_setting(name: str, value: str | None) -> str | None:
    """Return a message if a broker cannot be given this setting at run time, else None."""
    if name not in _BROKER_NUMBERS:
        return f"The setting {name} cannot be changed at run time; a broker has {', '.join(_BROKER_NUMBERS)}."
    return _problem_with_number(name, value, *_BROKER_NUMBERS[name])


def below_topics(settings: Mapping[str, str]) -> dict[str, str]:
    """Return a broker's run-time settings under the names that a topic's own settings have."""
    return {TOPIC_SETTING[name]: value for name, value in settings.items() if name in TOPIC_SETTING}


def usable(of: str, config: Mapping[str, str], problem: Callable[[str, str], str | None]) -> dict[str, str]:
    """Return the valid settings and log the others.

    Operators and other software write znodes too, and one bad value must not keep a broker from using the rest.
    """
    good = {}
    for name, value in config.items():
        if message := problem(name, value):
            log.error("a setting of %s is ignored: %s", of, message)
        else:
            good[name] = value
    return good


def _problem_with_number(name: str, value: str | None, least: int, greatest: int) -> str | None:
    if value is None or not value.removeprefix("-").isdecimal() or not least <= int(value) <= greatest:
        return f"{name}={value} must be a whole number between {least} and {greatest}."
    return None


def _is_share(value: str | None) -> bool:
    try:
        return 0 <= float(value or "") <= 1
    except ValueError:
        return False
