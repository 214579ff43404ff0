"""The summary of a campaign on the terminal: counts, coverage, and each failure with the command that replays it."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fencepost.harness.campaign.summary import Summary, grid
from fencepost.harness.cli.display import coloured
from fencepost.harness.cli.eta import duration
from fencepost.harness.cli.summary import planted_lines
from fencepost.harness.terminal import counted

MARGIN = 15


def shown(summary: Summary) -> Iterator[RenderableType]:
    counts = "   ".join(f"{number} {verdict.value}" for verdict, number in summary.counts().items())
    over = f"   {summary.interrupted} interrupted" if summary.interrupted else ""
    yield Text(f"\n{counted(len(summary.outcomes), 'plan')}   {counts}{over}   {duration(summary.seconds)}", "bold")
    yield from planted_lines(outcome.planted_defect for outcome in summary.outcomes)
    roles, rows = grid(summary.met)
    if rows:
        yield Text("\nhow often each fault hit which role (and its state, if it was not serving)")
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("fault", no_wrap=True)
        for role in roles:
            table.add_column(role)
        for fault, cells in rows:
            table.add_row(fault, *cells)
        yield table
    for difference, outcomes in summary.differences().items():
        seeds = ", ".join(str(outcome.seed) for outcome in outcomes)
        yield Text(f"{difference:<{MARGIN}}listed difference; it showed in plans {seeds}")
    for outcome in summary.failures:
        yield Text()
        lines = f"{outcome.verdict.value:<{MARGIN}}{outcome.title}\n{'':<{MARGIN}}{outcome.headline}"
        replay = "" if outcome.replay is None else f"\n{'replay':<{MARGIN}}{outcome.replay}"
        yield coloured(lines + replay, outcome.verdict)
