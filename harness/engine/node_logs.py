"""The nodes' own logs as they grow, and how long each was at the instants of a run."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from pathlib import Path

from harness.plan.base import Said

LOOK_EVERY = 0.001
"""Seconds between two looks at a log, where a fault is to hit the moment that it says something."""
LAST_WORDS = 50
"""Lines that are kept of what a node said from a line on."""


class NodeLogs:
    """`folder` holds NODE.log of each node. Not for use by several threads, but for `mark`."""

    def __init__(self, folder: Path, nodes: Collection[str]) -> None:
        self._folder = folder
        self._nodes = tuple(nodes)
        self._marks: dict[str, dict[str, int]] = {}
        self._found: dict[str, int] = {}

    def mark(self, instant: str) -> None:
        """Note how long each log is now."""
        self._marks[instant] = {node: self._size(node) for node in self._nodes}

    def search(self, node: str, pattern: str, since: str | None = None) -> LogSearch:
        """For lines that were whole later than the instant, or at any time. KeyError if it has not come."""
        begin = 0 if since is None else self._marks[since].get(node, 0)
        return LogSearch(self._path(node), pattern, begin, lambda at: self._found.__setitem__(node, at))

    def await_said(self, node: str, said: Said, deadline: float) -> str | None:
        """The line, as soon as it is there; None once the monotonic `deadline` has passed."""
        search = self.search(node, said.says, said.since)
        while not search():
            if time.monotonic() > deadline:
                return None
            time.sleep(LOOK_EVERY)
        return search.line

    def since_found(self, node: str) -> list[str] | None:
        """The lines from the one on that was found last in this log; None if none was."""
        if node not in self._found:
            return None
        with self._path(node).open("rb") as file:
            file.seek(self._found[node])
            lines = file.read().decode(errors="replace").splitlines()
        return lines[:LAST_WORDS]

    def _path(self, node: str) -> Path:
        return self._folder / f"{node}.log"

    def _size(self, node: str) -> int:
        try:
            return self._path(node).stat().st_size
        except FileNotFoundError:
            return 0


class LogSearch:
    """Called, it looks at what was added, and says whether a line was found by now: `line`, None until then."""

    def __init__(self, path: Path, pattern: str, begin: int, on_found: Callable[[int], None] = lambda at: None) -> None:
        self._path = path
        self._pattern = re.compile(pattern)
        self._at = begin
        self._on_found = on_found
        self.line: str | None = None

    def __call__(self) -> bool:
        if self.line is None:
            self._look()
        return self.line is not None

    @property
    def found(self) -> dict[str, object]:
        """For the journal."""
        return {} if self.line is None else {"line": self.line}

    def _look(self) -> None:
        try:
            if self._path.stat().st_size == self._at:
                return
            with self._path.open("rb") as file:
                file.seek(self._at)
                added = file.read()
        except FileNotFoundError:
            return
        for raw in added[: added.rfind(b"\n") + 1].splitlines(keepends=True):
            line = raw.decode(errors="replace").rstrip()
            if self._pattern.search(line):
                self.line = line
                self._on_found(self._at)
                return
            self._at += len(raw)


class Instants(dict[str, float]):
    """Journal times by `name.phase`; whoever wants to know what is otherwise at an instant is told when it comes."""

    def __init__(self, on_new: Callable[[str], None]) -> None:
        super().__init__()
        self._on_new = on_new

    def __setitem__(self, instant: str, t: float) -> None:
        super().__setitem__(instant, t)
        self._on_new(instant)

    def setdefault(self, instant: str, t: float = 0.0) -> float:
        if instant not in self:
            self[instant] = t
        return self[instant]
