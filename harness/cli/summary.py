"""The end of a suite on the terminal: counts, the slowest, and all that is worth a look."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from harness.cli.board import Board, Row
from harness.cli.display import COLOURS, duration
from harness.report.text import summarise
from results.records.folder import RunFolder
from results.records.verdict import RunVerdict, Verdict

MARGIN = 15


def summary(board: Board, now: float, width: int) -> Iterator[Text]:
    """`now` is monotonic seconds, `width` that of the terminal."""
    counts = board.counts()
    parts = [f"{counts[verdict]} {verdict.value}" for verdict in Verdict]
    if board.skipped:
        parts.append(f"{board.skipped} skipped")
    yield Text(f"\n{len(board.rows)} stories   {'   '.join(parts)}   {duration(now - board.began)}", "bold")
    if slowest := board.slowest():
        yield Text("slowest: " + ", ".join(f"{row.story} {row.seconds:.1f} s" for row in slowest), "dim")
    yield from _listed_differences(board)
    for row in board.failed:
        yield Text()
        yield _failure(row, width)


def coloured(summarised: str, verdict: Verdict) -> Text:
    """The lines of `summarise`, its first word in the verdict's colour."""
    text = Text(summarised)
    text.stylize(COLOURS[verdict], 0, len(verdict.value))
    return text


def _failure(row: Row, width: int) -> Text:
    verdict = row.verdict or Verdict.INFRASTRUCTURE
    saved = _verdict_of(row)
    if saved is not None and row.run is not None:
        return coloured(summarise(saved, RunFolder(Path(row.run)), width=width), verdict)
    lines = f"{verdict.value:<{MARGIN}}{row.story}\n{'':<{MARGIN}}{row.headline or 'it left no verdict'}"
    return coloured(lines, verdict)


def _listed_differences(board: Board) -> Iterator[Text]:
    """Which listed differences of the target showed, in which stories: passes, and news all the same."""
    shown: dict[str, set[str]] = {}
    for row in board.done:
        saved = _verdict_of(row)
        for finding in saved.of(Verdict.PASS) if saved is not None else ():
            if finding.difference is not None:
                shown.setdefault(finding.difference, set()).add(row.story)
    for difference, stories in sorted(shown.items()):
        yield Text(f"{difference:<{MARGIN}}differs from the document, as listed: {', '.join(sorted(stories))}")


def _verdict_of(row: Row) -> RunVerdict | None:
    if row.run is None:
        return None
    try:
        return RunVerdict.load(RunFolder(Path(row.run)).verdict)
    except (OSError, ValueError, KeyError):
        return None
