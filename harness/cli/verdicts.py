"""A single run on the terminal: its steps while it goes, its verdict at the end."""

from __future__ import annotations

import time

from rich.console import Console
from rich.status import Status

from harness.cli.display import COLOURS
from harness.conformance.outcome import explanation
from harness.conformance.progress import Phase
from results.records.folder import RunFolder
from results.records.verdict import RunVerdict, Verdict


class Watcher:
    """Implements `harness.engine.execute.Watch`: one line that changes on a terminal, a line a step elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._began = time.monotonic()
        self._status = Status("starting the cluster", console=self._console)

    def tell(self, phase: Phase, *, step: str | None = None) -> None:
        said = step or phase.value
        if self._console.is_terminal:
            self._status.update(said)
        else:
            self._console.print(f"{time.monotonic() - self._began:6.1f} s  {said}")

    def __enter__(self) -> Watcher:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()


def show_verdict(folder: RunFolder, verdict: RunVerdict, console: Console | None = None) -> None:
    """The verdict in its colour; what was found, and how to see it again, unless it passed."""
    console = console or Console(highlight=False, soft_wrap=True)
    colour = COLOURS[verdict.verdict]
    told = [finding for finding in verdict.findings if finding.verdict is Verdict.PASS]
    console.print(f"[{colour}]{verdict.verdict.value}[/{colour}]  {verdict.story} on {verdict.target}", end="  ")
    console.print(f"{verdict.duration:.1f} s, {verdict.events} events, {len(told)} checks passed")
    if verdict.verdict is Verdict.PASS:
        console.print(f"  look  {folder.report}")
    else:
        console.print(explanation(verdict, folder), markup=False)
