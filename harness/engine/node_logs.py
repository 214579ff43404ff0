"""The nodes' logs while they grow, and the size of each log at the instants of a run."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from fencepost.harness.plan.base import LogLine
from fencepost.harness.plan.conditions.logged import LOOK_EVERY
from fencepost.harness.processes.waiting import within

LAST_WORDS = 50
"""Lines of a node's log that are kept, from an awaited line on."""


class NodeLogs:
    """The logs of a run's nodes; `folder` holds NODE.log of each. Only `mark` may be called from several threads."""

    def __init__(self, folder: Path, nodes: Collection[str], begin: Mapping[str, int] | None = None) -> None:
        """`begin`: the sizes of the logs at the begin of the run, by node; without it they were empty."""
        self._folder = folder
        self._nodes = tuple(nodes)
        self._begin = {} if begin is None else begin
        self._marks: dict[str, dict[str, int]] = {}
        self._found: dict[str, int] = {}

    def mark(self, instant: str) -> None:
        """Record the size of each log now."""
        self._marks[instant] = {node: self._size(node) for node in self._nodes}

    def search(self, node: str, pattern: str, since: str | None = None) -> LogSearch:
        """Search for lines that were complete after the instant, or at any time. Raise KeyError before the instant."""
        begin = self._begin.get(node, 0) if since is None else self._marks[since].get(node, 0)
        return LogSearch(self._path(node), pattern, begin, lambda at: self._found.__setitem__(node, at))

    def await_line(self, node: str, said: LogLine, deadline: float) -> str | None:
        """Return the line as soon as the log has it, None once the monotonic `deadline` has passed."""
        search = self.search(node, said.says, said.since)
        within(deadline - time.monotonic(), search, longest_pause=LOOK_EVERY)
        return search.line

    def since_found(self, node: str) -> list[str] | None:
        """Return the lines of the log from the line on that was found last; None if no line was found."""
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
    """A predicate that reads what was added to a log; True once a line matched. `line` is that line."""

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
        """Return the line, for the journal."""
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
    """Journal times by `name.phase`. `on_new(name)` is called when an instant is first recorded."""

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
