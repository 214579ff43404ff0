"""A mistake in a plan, and the messages that many checks share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """A mistake at the place `at` of the plan: `("steps", 3, "fault")`."""

    at: tuple[str | int, ...]
    message: str


def twice(at: tuple[str | int, ...], kind: str, key: str, values: Iterable[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for place, value in enumerate(values):
        if value in seen:
            yield Problem((*at, place, key), f"a second {kind} has the {key} `{value}`")
        seen.add(value)


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    return f"unknown {kind} `{name}`; known: {', '.join(sorted(known)) or 'none'}"


def not_yet(kind: str, name: str, known: Iterable[str]) -> str:
    return f"no {kind} `{name}` comes before this; so far: {', '.join(sorted(known)) or 'none'}"
