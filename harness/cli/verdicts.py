"""A single run on the terminal: its steps while it goes, its verdict at the end."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.status import Status

from harness.cli.pace import RunPace
from harness.cli.summary import coloured
from harness.conformance.progress import Phase
from harness.report.text import summarise
from harness.reproduction.command import replay_command
from results.records.folder import RunFolder
from results.records.verdict import RunVerdict


class Watcher:
    """Implements `harness.engine.execute.Watch`: one line that changes on a terminal, a line a step elsewhere."""

    def __init__(self, console: Console, pace: RunPace | None = None) -> None:
        self._console = console
        self._pace = pace or RunPace(())
        self._status = Status(self._pace, console=console)

    def tell(self, phase: Phase, *, step: str | None = None) -> None:
        self._pace.enter(step or phase.value)
        if not self._console.is_terminal:
            self._console.print(f"{time.monotonic() - self._pace.began:6.1f} s  {step or phase.value}")

    def __enter__(self) -> Watcher:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()


def show_verdict(console: Console, folder: RunFolder, verdict: RunVerdict) -> None:
    """What happened, what it means, how to see it again; where the page is."""
    console.print(coloured(summarise(verdict, folder, width=console.width), verdict.verdict))
    if verdict.verdict.exit_code == 0:
        console.print(f"{'look':<15}{folder.report}")


def as_data(folder: RunFolder, verdict: RunVerdict) -> dict[str, Any]:
    """The verdict for programs: what its file holds, where the run is, and how to see it again."""
    places = {"run": str(folder.path), "report": str(folder.report), "replay": replay_command(folder)}
    return {**verdict.to_json(), **places}
