"""The names that permissions are given to."""

from __future__ import annotations

ANONYMOUS = "User:ANONYMOUS"
"""Whoever comes by a listener without authentication."""


def user(name: str) -> str:
    """The principal of a user, in Kafka's text form."""
    return f"User:{name}"
