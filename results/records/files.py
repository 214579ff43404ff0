"""Read and write JSON and JSON lines so that a crash at any time leaves a readable file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a file holds. Raise FileNotFoundError, ValueError for malformed JSON."""
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
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
