"""Runs of one plan on the terminal: their steps while they go, their verdicts at the end."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console

from fencepost.harness.cli.display import LineBelow, coloured
from fencepost.harness.cli.eta import EtaEstimator, about_left
from fencepost.harness.cli.run_progress import RunProgress
from fencepost.harness.report.text import summarise
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.progress import Phase
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.verdict import RunVerdict, Verdict


class RunDisplay(LineBelow):
    """Implements `fencepost.harness.engine.execute.ProgressListener`.

    On a terminal it shows one changing line, above it a line for each proven fault. A log gets a line for each step,
    too.
    """

    def __init__(self, console: Console, progress: RunProgress) -> None:
        super().__init__(console, progress)
        self._progress = progress

    def report(self, phase: Phase, *, step: str | None = None, proof: str | None = None) -> None:
        line = self._progress.enter(step or phase.value, proof)
        if not self._console.is_terminal:
            self._console.print(line, markup=False, soft_wrap=True)
        elif proof is not None:
            self._console.print(f"{self._progress.words(step)}: proven, {proof}", style="dim", markup=False)


class Series(LineBelow):
    """Several runs one after another: a line for each that ended, and below them one that changes.

    It is the `fencepost.harness.engine.execute.ProgressListener` of each of its runs.

    `total` is the number of runs, if it is known before: then the line below shows about how long they still take.
    """

    def __init__(self, console: Console, total: int | None = None) -> None:
        super().__init__(console)
        self._total = total
        self._ended = 0
        self._eta = EtaEstimator(time.monotonic())
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
        self._console.print(coloured(f"{verdict.value:<15}{note}", verdict))

    def _show(self) -> None:
        waiting = 0 if self._total is None else self._total - self._ended
        left = self._eta.left(time.monotonic(), done=self._ended, waiting=waiting)
        self._status.update(" · ".join(filter(None, (self._what, self._step, about_left(left)))))


def show_verdict(console: Console, folder: RunFolder, verdict: RunVerdict) -> None:
    """Print the summary of a run: its findings, the command that replays it, the path of the page."""
    console.print(coloured(summarise(verdict, folder, width=console.width), verdict.verdict))
    if verdict.verdict.exit_code == 0:
        console.print(f"{'report':<15}{folder.report}")


def as_data(folder: RunFolder, verdict: RunVerdict) -> dict[str, Any]:
    """Return the verdict for programs: the content of its file, the paths of the run, the replay command."""
    places = {"run": str(folder.path), "report": str(folder.report), "replay": replay_command(folder)}
    return {**verdict.to_json(), **places}
