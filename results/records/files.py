"""Read and write records as JSON, and JSON lines, so that a crash at any time leaves a readable file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import ValidationError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_T = TypeVar("_T")


_adapters: dict[type, TypeAdapter[Any]] = {}


def _adapter(kind: type) -> TypeAdapter[Any]:
    if kind not in _adapters:
        # Drivers of Spark jobs and most commands read no record: they do not wait for the import.
        from pydantic import TypeAdapter

        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def as_json(record: Any) -> dict[str, Any]:
    """Return a dataclass as JSON's types, by the names of its fields."""
    value: dict[str, Any] = _adapter(type(record)).dump_python(record, mode="json")
    return value


def from_json(kind: type[_T], value: object) -> _T:
    """Return the dataclass that `as_json` made; other keys are left out. Raise ValueError, which names one fault."""
    try:
        record: _T = _adapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return record


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a file holds. Raise OSError, or ValueError if it holds none."""
    value = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError(f"{path} holds no object")
    return value


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace the file in one step: a reader sees the old one or the new one, never a part of it."""
    draft = path.with_name(path.name + ".tmp")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file with one a line, without torn lines; none if there is no such file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def append_durably(path: Path, value: Mapping[str, Any]) -> None:
    """Append one line, on disk when this returns. The file is created with its first line.

    A line that a killed writer left torn is ended first. Callers with several threads hold a lock of their own.
    """
    with path.open("a+b") as file:
        if file.tell() and not _ends_with_newline(file.fileno()):
            file.write(b"\n")
        file.write((json.dumps(value) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())


def _ends_with_newline(descriptor: int) -> bool:
    return os.pread(descriptor, 1, os.fstat(descriptor).st_size - 1) == b"\n"
