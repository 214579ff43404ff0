"""The summary of a suite on the terminal: counts, the slowest scenarios, each failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.text import Text

from fencepost.harness.cli.board import Board, Row
from fencepost.harness.cli.display import coloured
from fencepost.harness.cli.eta import duration
from fencepost.harness.report.text import summarise
from fencepost.harness.terminal import counted
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import RunVerdict, Verdict

MARGIN = 15


def summary(board: Board, now: float, width: int) -> Iterator[Text]:
    """Yield the lines of the summary. `now` is in monotonic seconds, `width` is the terminal's in columns."""
    counts = board.counts()
    parts = [f"{counts[verdict]} {verdict.value}" for verdict in Verdict]
    if board.skipped:
        parts.append(f"{board.skipped} skipped")
    yield Text(
        f"\n{counted(len(board.rows), 'scenario')}   {'   '.join(parts)}   {duration(now - board.began)}", "bold"
    )
    if slowest := board.slowest():
        yield Text("slowest: " + ", ".join(f"{row.scenario} {row.seconds:.1f} s" for row in slowest), "dim")
    yield from _quarantine(board)
    yield from planted_lines(each.planted_defect for row in board.done if (each := _verdict_of(row)) is not None)
    yield from _listed_differences(board)
    for row in board.failed:
        yield Text()
        yield _failure(row, width)


def _failure(row: Row, width: int) -> Text:
    verdict = row.verdict or Verdict.INFRASTRUCTURE
    saved = _verdict_of(row)
    if saved is not None and row.run is not None:
        return coloured(summarise(saved, RunFolder(Path(row.run)), width=width), verdict)
    lines = f"{verdict.value:<{MARGIN}}{row.scenario}\n{'':<{MARGIN}}{row.headline or 'the run left no verdict'}"
    return coloured(lines, verdict)


def _listed_differences(board: Board) -> Iterator[Text]:
    """Yield each listed difference of the target that showed, with its scenarios. Such a scenario passed."""
    shown: dict[str, set[str]] = {}
    for row in board.done:
        saved = _verdict_of(row)
        for finding in saved.of(Verdict.PASS) if saved is not None else ():
            if finding.difference is not None:
                shown.setdefault(finding.difference, set()).add(row.scenario)
    for difference, scenarios in sorted(shown.items()):
        yield Text(f"{difference:<{MARGIN}}differs from the document, as listed: {', '.join(sorted(scenarios))}")


def _quarantine(board: Board) -> Iterator[Text]:
    """Yield each scenario in quarantine that ran, with its verdict: it is shown, and does not fail the suite."""
    for row in board.done:
        if row.verdict is not None and (reason := board.quarantined.get(row.scenario)) is not None:
            yield Text(f"{'quarantine':<{MARGIN}}{row.scenario}: {row.verdict.value}; {reason}")


def planted_lines(defects: Iterable[str]) -> Iterator[Text]:
    """Yield a line for each planted defect, from those of all runs; empty means none.

    It keeps a suite or a campaign from reading like one of a real build.
    """
    for defect, number in Counter(filter(None, defects)).items():
        runs = counted(number, "run")
        yield Text(f"{'planted':<{MARGIN}}{defect} in {runs}: no verdict about a real build", "bold")


def _verdict_of(row: Row) -> RunVerdict | None:
    return None if row.run is None else RunFolder(Path(row.run)).try_verdict()
