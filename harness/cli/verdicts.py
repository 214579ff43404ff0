"""One run on the terminal: its steps while it goes, its verdict at the end."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.status import Status

from fencepost.harness.cli.run_progress import RunProgress
from fencepost.harness.cli.summary import coloured
from fencepost.harness.report.text import summarise
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.progress import Phase
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.verdict import RunVerdict


class RunDisplay:
    """Implements `fencepost.harness.engine.execute.ProgressListener`.

    On a terminal it shows one changing line, above it a line for each proven fault. A log gets a line for each step,
    too.
    """

    def __init__(self, console: Console, progress: RunProgress) -> None:
        self._console = console
        self._progress = progress
        self._status = Status(progress, console=console)

    def report(self, phase: Phase, *, step: str | None = None, proof: str | None = None) -> None:
        line = self._progress.enter(step or phase.value, proof)
        if not self._console.is_terminal:
            self._console.print(line, markup=False, soft_wrap=True)
        elif proof is not None:
            self._console.print(f"{self._progress.words(step)}: proven, {proof}", style="dim", markup=False)

    def __enter__(self) -> RunDisplay:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()


def show_verdict(console: Console, folder: RunFolder, verdict: RunVerdict) -> None:
    """Print the summary of a run: its findings, the command that replays it, the path of the page."""
    console.print(coloured(summarise(verdict, folder, width=console.width), verdict.verdict))
    if verdict.verdict.exit_code == 0:
        console.print(f"{'report':<15}{folder.report}")


def as_data(folder: RunFolder, verdict: RunVerdict) -> dict[str, Any]:
    """Return the verdict for programs: the content of its file, the paths of the run, the replay command."""
    places = {"run": str(folder.path), "report": str(folder.report), "replay": replay_command(folder)}
    return {**verdict.to_json(), **places}
