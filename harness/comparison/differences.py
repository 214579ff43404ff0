"""The differences of two masked answers, by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ABSENT = "absent"
"""The value of what only the other answer has."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that two answers do not share. `path` is as in plans: `topics[0].error_code`."""

    path: str
    one: Any
    other: Any

    def __str__(self) -> str:
        return f"{self.path}: {self.one} and {self.other}" if self.path else f"{self.one} and {self.other}"


def differences(one: Any, other: Any, *, same_version: bool = True, path: str = "") -> Iterator[Difference]:
    """Yield what differs. Of answers in different versions only the fields that both have are compared."""
    match one, other:
        case Mapping(), Mapping():
            for key in dict.fromkeys((*one, *other)):
                if key in one and key in other:
                    at = f"{path}.{key}" if path else str(key)
                    yield from differences(one[key], other[key], same_version=same_version, path=at)
                elif same_version:
                    yield Difference(f"{path}.{key}".lstrip("."), one.get(key, ABSENT), other.get(key, ABSENT))
        case list(), list():
            if len(one) != len(other):
                yield Difference(path, f"{len(one)} items", f"{len(other)} items")
            for place, (first, second) in enumerate(zip(one, other, strict=False)):
                yield from differences(first, second, same_version=same_version, path=f"{path}[{place}]")
        case _:
            if one != other:
                yield Difference(path, one, other)
