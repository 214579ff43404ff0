"""Rows of the table `log_signatures`: the kinds of warnings and errors in the logs of the nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.results.store.masking import MASKING, mask, masked_signature
from fencepost.results.store.rows import LogSignatureRow

_LEVEL = re.compile(rb"\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL|WARNING|CRITICAL)\b")
_KEPT = (b"WARN", b"ERROR", b"FATAL", b"WARNING", b"CRITICAL")
_NAMES = {"WARNING": "WARN", "CRITICAL": "FATAL"}
_HEAD = 80
"""Characters of a line in which its level stands."""
LINE = 500
OTHER_LOGS = ("toxiproxy",)
"""Logs that are not of nodes."""


@dataclass
class _Kind:
    example: str
    lines: int = 0
    nodes: set[str] = field(default_factory=set)


def log_rows(logs: Path) -> list[LogSignatureRow]:
    """Return a row for each kind of line, the most frequent first. A log that cannot be read has none."""
    kinds: dict[tuple[str, str], _Kind] = {}
    for path in sorted(logs.glob("*.log")) if logs.is_dir() else ():
        if path.stem in OTHER_LOGS:
            continue
        for level, line in _lines(path):
            kind = kinds.setdefault((level, mask(line)), _Kind(line))
            kind.lines += 1
            kind.nodes.add(path.stem)
    return [
        LogSignatureRow(
            level=level,
            masked=masked,
            signature=masked_signature(level, masked),
            masking=MASKING,
            lines=kind.lines,
            nodes=sorted(kind.nodes),
            example=kind.example,
        )
        for (level, masked), kind in sorted(kinds.items(), key=lambda item: -item[1].lines)
    ]


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    with path.open("rb") as file:
        for line in file:
            found = _LEVEL.search(line, 0, _HEAD)
            if found and found[1] in _KEPT:
                level = found[1].decode()
                yield _NAMES.get(level, level), line.decode(errors="replace").strip()[:LINE]
