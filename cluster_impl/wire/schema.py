"""Message definitions: JSON in Kafka's format, read into values for the compiler.

A definition names its fields, their types and the versions that carry them. The differences from Kafka's own format are
small: a struct that is not in an array must be a tagged field (absent means None), and there are no entities, listeners
or map keys, which no codec needs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

FIXED = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
"""Types of fixed width, with their letter in `struct` formats (always big-endian)."""

VARIABLE = frozenset({"string", "bytes", "records"})

_LAST = 32767
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class Versions:
    """An inclusive range of versions; `none` is a range that contains nothing."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Self:
        if text == "none":
            return cls(0, -1)
        low, separator, high = text.partition("-")
        if separator:
            return cls(int(low), int(high))
        if text.endswith("+"):
            return cls(int(text[:-1]), _LAST)
        return cls(int(text), int(text))

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high


@dataclass(frozen=True)
class Field:
    """One field. `type` is that of the elements if `is_array`; `struct` is set if it is a struct."""

    name: str
    attribute: str
    type: str
    is_array: bool
    struct: StructDefinition | None
    versions: Versions
    nullable: Versions
    tagged: Versions
    tag: int
    default: str | int | float | bool | None
    ignorable: bool


@dataclass(frozen=True)
class StructDefinition:
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Definition:
    """One message: `structs` are all nested ones, each before those that contain it; `root` is the message."""

    name: str
    kind: str
    api_key: int
    versions: Versions
    flexible: Versions
    root: StructDefinition
    structs: tuple[StructDefinition, ...]


def snake_case(name: str) -> str:
    return _WORD.sub("_", name).lower()


def load(path: Path) -> Definition:
    """Read one definition; a mistake in it raises ValueError that names the file."""
    try:
        return _definition(json.loads(path.read_text("utf-8")))
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def _definition(raw: dict[str, Any]) -> Definition:
    structs: dict[str, StructDefinition] = {}
    for common in raw.get("commonStructs", ()):
        structs[common["name"]] = _struct(common, structs)
    root = _struct(raw, structs)
    return Definition(
        name=raw["name"],
        kind=raw["type"],
        api_key=raw.get("apiKey", -1),
        versions=Versions.parse(raw["validVersions"]),
        flexible=Versions.parse(raw["flexibleVersions"]),
        root=root,
        structs=tuple(structs.values()),
    )


def _struct(raw: dict[str, Any], structs: dict[str, StructDefinition]) -> StructDefinition:
    return StructDefinition(raw["name"], tuple(_field(field, structs) for field in raw["fields"]))


def _field(raw: dict[str, Any], structs: dict[str, StructDefinition]) -> Field:
    element = raw["type"].removeprefix("[]")
    is_array = element != raw["type"]
    struct = None
    if element not in FIXED and element not in VARIABLE:
        if "fields" in raw:
            structs[element] = _struct({"name": element, "fields": raw["fields"]}, structs)
        if element not in structs:
            raise ValueError(f"field {raw['name']} has the unknown type {element}")
        struct = structs[element]
    tagged = Versions.parse(raw.get("taggedVersions", "none"))
    return Field(
        name=raw["name"],
        attribute=snake_case(raw["name"]),
        type=element,
        is_array=is_array,
        struct=struct,
        versions=Versions.parse(raw["versions"]),
        nullable=Versions.parse(raw.get("nullableVersions", "none")),
        tagged=tagged,
        tag=raw.get("tag", -1),
        default=_default(raw, element, is_array, struct),
        ignorable=raw.get("ignorable", False),
    )


def _default(
    raw: dict[str, Any], element: str, is_array: bool, struct: StructDefinition | None
) -> str | int | float | bool | None:
    """Return the default as a Python value. Arrays and byte fields have none but empty ("") and null (None)."""
    text = str(raw.get("default", ""))
    if text == "null" or element == "records" or (struct and not is_array):
        return None
    if is_array or element in VARIABLE or element == "uuid":
        return text
    if element == "bool":
        return text.lower() == "true"
    return float(text or 0) if element == "float64" else int(text or "0", 0)
