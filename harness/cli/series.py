"""Several runs one after another on a terminal: a line for each that is over, and one that changes below."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console
from rich.status import Status
from rich.text import Text

from harness.cli.display import COLOURS, duration
from harness.conformance.progress import Phase
from results.records.verdict import Verdict


class Series:
    """Implements `harness.engine.execute.Watch` for each of its runs. `left` gives the seconds that it may still take,
    None while nobody can know."""

    def __init__(self, console: Console, left: Callable[[], float | None] = lambda: None) -> None:
        self._console = console
        self._left = left
        self._status = Status("", console=console)
        self._what = ""
        self._step = ""

    def begin(self, what: str) -> None:
        """The next run: `3 of 20`."""
        self._what, self._step = what, "starting the cluster"
        self._show()

    def tell(self, phase: Phase, *, step: str | None = None) -> None:
        self._step = step or phase.value
        self._show()

    def done(self, verdict: Verdict, said: str) -> None:
        line = Text(f"{verdict.value:<15}{said}")
        line.stylize(COLOURS[verdict], 0, len(verdict.value))
        self._console.print(line)

    def __enter__(self) -> Series:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def _show(self) -> None:
        left = self._left()
        about = "" if left is None else f" · about {duration(left)} left"
        self._status.update(f"{self._what} · {self._step}{about}")


class Pace:
    """How long what is left may take, by how long what is over took."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()

    def step(self) -> None:
        self._done += 1

    def left(self) -> float | None:
        if not self._done:
            return None
        return (time.monotonic() - self._began) / self._done * (self._total - self._done)
