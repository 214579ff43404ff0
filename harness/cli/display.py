"""The board on a terminal: finished stories scroll up, running ones and a bar stay below. Elsewhere: plain lines."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.cli.board import Board, Row
from harness.conformance.progress import Phase
from results.records.verdict import Verdict

COLOURS = {
    Verdict.PASS: "green",
    Verdict.VIOLATION: "bold red",
    Verdict.INFRASTRUCTURE: "magenta",
    Verdict.INCONCLUSIVE: "yellow",
}
SHOWN_REQUIREMENTS = 3


class Display:
    """Shows a board; `update` after each change, `refresh` from time to time."""

    def __init__(self, console: Console, board: Board) -> None:
        self._console = console
        self._board = board
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None

    def __enter__(self) -> Display:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, row: Row, now: float) -> None:
        if row.over:
            self._console.print(finished_line(row))
        self.refresh(now)

    def refresh(self, now: float) -> None:
        if self._live is not None:
            self._live.update(Group(*_below(self._board, now)), refresh=True)


def finished_line(row: Row) -> RenderableType:
    if row.phase is Phase.SKIPPED:
        return _line(Text("skipped", "dim"), row.title, Text(row.headline or "", "dim"), "")
    verdict = row.verdict or Verdict.INFRASTRUCTURE
    shown = " ".join(row.requirements[:SHOWN_REQUIREMENTS])
    more = f" +{len(row.requirements) - SHOWN_REQUIREMENTS}" if len(row.requirements) > SHOWN_REQUIREMENTS else ""
    seconds = f"{row.seconds:.1f} s" if row.seconds is not None else ""
    return _line(Text(verdict.value, COLOURS[verdict]), row.title, Text(shown + more, "dim"), seconds)


def _below(board: Board, now: float) -> Iterator[RenderableType]:
    for row in board.running:
        where = row.step or row.phase.value
        yield _line(Text("running", "cyan"), row.title, Text(where, "cyan"), "")
    done, total = len(board.done), len(board.rows)
    if not total:
        yield Text("  collecting stories", "dim")
        return
    left = board.left(now)
    bar = Table.grid(padding=(0, 2))
    bar.add_row(Text(""), ProgressBar(total=total, completed=done, width=36), f"{done} of {total}", _about(left))
    yield bar


def _line(verdict: Text, title: str, note: Text, seconds: str) -> RenderableType:
    """verdict, title, note, seconds in columns; the title gives way on a narrow terminal."""
    line = Table.grid(padding=(0, 1), expand=True)
    line.add_column(width=15)
    line.add_column(ratio=5, no_wrap=True, overflow="ellipsis")
    line.add_column(ratio=2, no_wrap=True, overflow="ellipsis")
    line.add_column(width=8, justify="right")
    line.add_row(Text("  ") + verdict, title, note, seconds)
    return line


def _about(left: float | None) -> str:
    return "" if left is None else f"about {duration(left)} left"


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
