"""Values in plain data, by path: those that a plan claims of an answer, and those that it gives a name to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_SELECTOR = re.compile(r"\.?([a-z_0-9]+)|\[(\d*)\]|\[([a-z_0-9]+)=([^]]*)\]")


class MessageError(ValueError):
    """The data does not fit the schema of the message; the message says where."""


def bound_names(data: Any) -> Iterator[str]:
    """Yield the names of the bound values that stand in the data as `$name`."""
    match data:
        case str() if data.startswith("$"):
            yield data[1:]
        case Mapping():
            yield from (name for each in data.values() for name in bound_names(each))
        case list() | tuple():
            yield from (name for each in data for name in bound_names(each))


def at_path(answer: Any, path: str) -> Any:
    """Return what a path selects in plain data; None if it selects nothing.

    `results[0].name` is the first item's, `configs[name=retention.ms].value` that of the first item with this name, and
    `topics[].name` those of all items, as a sorted list. Raise MessageError if it is no path.
    """
    found: list[Any] = [answer]
    many = False
    for name, number, key, wanted in _selectors(path):
        if name:
            found = [each[name] for each in found if isinstance(each, Mapping) and name in each]
        elif key:
            of = (item for each in found if isinstance(each, Sequence) for item in each)
            found = [item for item in of if str(item.get(key)) == wanted][: None if many else 1]
        elif number:
            place = int(number)
            found = [each[place] for each in found if isinstance(each, Sequence) and place < len(each)]
        else:
            many = True
            found = [item for each in found if isinstance(each, Sequence) for item in each]
    if many:
        return sorted(found, key=str)
    return found[0] if found else None


def check_path(path: str) -> None:
    """Raise MessageError if it is no path."""
    for _ in _selectors(path):
        pass


ERRORS = ("error_code", "partition_error_code", "acknowledge_error_code")
"""The fields of responses that say that something was not done. CreateTopics has `topic_config_error_code` beside them:
the topic is there, and its settings may not be seen."""


def first_error(answer: Any) -> int:
    """Return the first error code in a response that is not 0, else 0."""
    if isinstance(answer, Mapping):
        own = [value for key, value in answer.items() if key in ERRORS and value]
        nested = (first_error(value) for value in answer.values() if isinstance(value, Mapping | list))
        return next((int(error) for error in (*own, *nested) if error), 0)
    return next((error for each in answer if (error := first_error(each))), 0) if isinstance(answer, list) else 0


def _selectors(path: str) -> Iterator[tuple[str, str, str, str]]:
    place = 0
    while place < len(path):
        found = _SELECTOR.match(path, place)
        if found is None:
            raise MessageError(f"`{path}` is no path: `results[0].configs[name=retention.ms].value` is one")
        name, number, key, wanted = found.groups()
        yield name or "", number or "", key or "", wanted or ""
        place = found.end()
