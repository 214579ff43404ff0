"""Lines of runs on a terminal: finished ones scroll up, running ones stay below. A log gets plain lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.status import Status
from rich.table import Table
from rich.text import Text

from fencepost.harness.checkers.owed import every_run
from fencepost.harness.cli.board import Board, Row
from fencepost.harness.cli.eta import about_left
from fencepost.results.records.progress import Phase
from fencepost.results.records.verdict import Verdict

COLOURS = {
    Verdict.PASS: "green",
    Verdict.VIOLATION: "bold red",
    Verdict.INFRASTRUCTURE: "magenta",
    Verdict.INCONCLUSIVE: "yellow",
}
SHOWN_REQUIREMENTS = 3


class LinesBelow:
    """Lines that stay below all others on a terminal, as `lines` gives them at a time; a log has none.

    `lines` takes monotonic seconds.
    """

    def __init__(self, console: Console, lines: Callable[[float], Iterable[RenderableType]]) -> None:
        self._lines = lines
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def refresh(self, now: float) -> None:
        if self._live is not None:
            self._live.update(Group(*self._lines(now)), refresh=True)


class Display(LinesBelow):
    """Shows a board. Call `update` after each change, and `refresh` from time to time."""

    def __init__(self, console: Console, board: Board) -> None:
        super().__init__(console, lambda now: _below(board, now))
        self._console = console
        self._board = board

    def update(self, row: Row, now: float) -> None:
        if row.over:
            print_finished(self._console, row, max(map(len, self._board.rows)))
        self.refresh(now)


class LineBelow:
    """One line that changes, below all others on a terminal; a log has none."""

    def __init__(self, console: Console, content: RenderableType = "") -> None:
        self._console = console
        self._status = Status(content, console=console)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()


def coloured(text: str, verdict: Verdict) -> Text:
    """Return a text that begins with a verdict, in the colour of that verdict."""
    lines = Text(text)
    lines.stylize(COLOURS[verdict], 0, len(verdict.value))
    return lines


def progress_bar(total: float, completed: float, *notes: str) -> RenderableType:
    bar = Table.grid(padding=(0, 2))
    bar.add_row(Text(""), ProgressBar(total=total, completed=completed, width=36), *notes)
    return bar


def print_finished(console: Console, row: Row, name_width: int) -> None:
    """Print one line for a scenario that is over. Only a terminal cuts it; anything else gets its name and all rules.

    `name_width` is the width of the longest name, so that the lines of a log stand in columns.
    """
    if console.is_terminal:
        console.print(finished_line(row))
    else:
        console.print(full_line(row, name_width), soft_wrap=True)


def full_line(row: Row, name_width: int) -> Text:
    """Return verdict, seconds, name, title and the scenario's own rules; for a skipped one the reason.

    The rules that every run is judged by are left out, because each line would repeat them.
    """
    skipped = row.phase is Phase.SKIPPED
    verdict = "skipped" if skipped else (row.verdict or Verdict.INFRASTRUCTURE).value
    seconds = f"{row.seconds:.1f} s" if row.seconds is not None and not skipped else ""
    own = [each for each in row.requirements if each not in every_run()]
    note = row.headline if skipped else " ".join(own)
    return Text(f"{verdict:<15}{seconds:>8}  {row.scenario:<{name_width}}  {row.title}{f'  [{note}]' if note else ''}")


def finished_line(row: Row) -> RenderableType:
    if row.phase is Phase.SKIPPED:
        return _line(Text("skipped", "dim"), row.title, Text(row.headline or "", "dim"), "")
    verdict = row.verdict or Verdict.INFRASTRUCTURE
    shown = " ".join(row.requirements[:SHOWN_REQUIREMENTS])
    more = f" +{len(row.requirements) - SHOWN_REQUIREMENTS}" if len(row.requirements) > SHOWN_REQUIREMENTS else ""
    seconds = f"{row.seconds:.1f} s" if row.seconds is not None else ""
    return _line(Text(verdict.value, COLOURS[verdict]), row.title, Text(shown + more, "dim"), seconds)


def running_line(row: Row) -> RenderableType:
    """Return the line of a scenario that runs, for a terminal."""
    return _line(Text("running", "cyan"), row.title, Text(row.step or row.phase.value, "cyan"), "")


def _below(board: Board, now: float) -> Iterator[RenderableType]:
    yield from map(running_line, board.running)
    done, total = len(board.done), len(board.rows)
    if not total:
        yield Text("  collecting scenarios", "dim")
        return
    yield progress_bar(total, done, f"{done} of {total}", about_left(board.left(now)))


def _line(verdict: Text, title: str, note: Text, seconds: str) -> RenderableType:
    """Return a line with the columns verdict, title, note and seconds; a narrow terminal cuts title and note."""
    line = Table.grid(padding=(0, 1), expand=True)
    line.add_column(width=15)
    line.add_column(ratio=5, no_wrap=True, overflow="ellipsis")
    line.add_column(ratio=2, no_wrap=True, overflow="ellipsis")
    line.add_column(width=8, justify="right")
    line.add_row(Text("  ") + verdict, title, note, seconds)
    return line
