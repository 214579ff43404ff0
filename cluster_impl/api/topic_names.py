"""The names that a topic can have."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_NAME = 249
_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def problem_with_name(name: str) -> str | None:
    """Return a message if no topic can have this name, else None."""
    if name not in (".", "..") and len(name) <= MAX_NAME and _NAME.fullmatch(name):
        return None
    return f"{name!r} is not a topic name: use 1 to {MAX_NAME} letters, digits, dots, underscores and hyphens."


def collision(name: str, others: Iterable[str]) -> str | None:
    """Return a message if another name differs in dots and underscores only: both topics would share metric names."""
    same = next((other for other in others if other.replace(".", "_") == name.replace(".", "_")), None)
    return f"Topic {name} collides with topic {same}." if same is not None else None
