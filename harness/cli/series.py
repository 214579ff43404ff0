"""Several runs one after another on a terminal: a line for each finished run, and below them one that changes."""

from __future__ import annotations

import time

from rich.console import Console
from rich.status import Status
from rich.text import Text

from fencepost.harness.cli.display import COLOURS
from fencepost.harness.cli.eta import EtaEstimator, about_left
from fencepost.results.records.progress import Phase
from fencepost.results.records.verdict import Verdict


class Series:
    """Implements `fencepost.harness.engine.execute.ProgressListener` for each of its runs.

    `total` is the number of runs, if it is known before: then the line below shows about how long they still take.
    """

    def __init__(self, console: Console, total: int | None = None) -> None:
        self._console = console
        self._total = total
        self._ended = 0
        self._eta = EtaEstimator(time.monotonic())
        self._status = Status("", console=console)
        self._what = ""
        self._step = ""

    def begin(self, what: str) -> None:
        """Begin the next run, which the line below calls `what`: `3 of 20`."""
        self._what, self._step = what, "starting the cluster"
        self._show()

    def report(self, phase: Phase, *, step: str | None = None, proof: str | None = None) -> None:
        self._step = (step or phase.value) + (", proven" if proof else "")
        self._show()

    def done(self, verdict: Verdict, note: str) -> None:
        """End a run: print its verdict with a note."""
        self._ended += 1
        line = Text(f"{verdict.value:<15}{note}")
        line.stylize(COLOURS[verdict], 0, len(verdict.value))
        self._console.print(line)

    def __enter__(self) -> Series:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def _show(self) -> None:
        waiting = 0 if self._total is None else self._total - self._ended
        left = self._eta.left(time.monotonic(), done=self._ended, waiting=waiting)
        self._status.update(" · ".join(filter(None, (self._what, self._step, about_left(left)))))
