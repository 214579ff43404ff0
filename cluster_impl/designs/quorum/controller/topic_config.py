"""The settings that a topic can have of its own. One that nothing would act on is refused, never silently kept."""

from __future__ import annotations

from collections.abc import Mapping

_MAX_INT = 2**31 - 1

TOPIC_CONFIGS: Mapping[str, tuple[int, int]] = {
    "min.insync.replicas": (1, _MAX_INT),
    "max.message.bytes": (0, _MAX_INT),
    "segment.bytes": (14, _MAX_INT),
}
"""Each supported setting with its least and greatest value; all are whole numbers."""


def problem_with(name: str, value: str | None) -> str | None:
    """A sentence if a topic cannot have this setting, else None."""
    if name not in TOPIC_CONFIGS:
        return f"The setting {name} is not supported; a topic can have {', '.join(TOPIC_CONFIGS)}."
    least, greatest = TOPIC_CONFIGS[name]
    if value is None or not value.isdigit() or not least <= int(value) <= greatest:
        return f"{name}={value} must be a whole number between {least} and {greatest}."
    return None
