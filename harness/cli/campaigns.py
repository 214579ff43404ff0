"""Drives a campaign and shows it: what runs and how much time is left while it goes, at the end what it came to."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.backends import check_backend
from harness.campaign.campaign import Attempt, Campaign, Order
from harness.campaign.coverage import Meeting, meetings
from harness.campaign.planner import LeftOut, left_out
from harness.campaign.summary import Outcome, Summary, grid
from harness.cli.board import Board, Row
from harness.cli.conformance import side_by_side
from harness.cli.display import COLOURS, duration, finished_line
from harness.cli.signals import at_once
from harness.conformance.progress import Phase
from harness.plan import PlanError, load_plan
from harness.room import check_room
from harness.targets.target import load
from results.records.folder import FolderError, RunFolder, write_json
from results.records.journal import JournalError, read_journal
from results.records.verdict import RunVerdict, Verdict

POLL = 0.2
DRY = 10
"""So many plans are shown if nobody says how many."""
MARGIN = 15
STANDING = 5
"""So many plans in a row without a run: what refuses them refuses all that would follow."""


def run_campaign(order: Order, runs: Path, console: Console, *, as_json: bool = False) -> int:
    """Run plans until the time is up. The exit code is that of the worst verdict; KeyboardInterrupt is raised after
    everything has ended and the summary is written."""
    check_backend(order.backend)
    check_room(runs)
    target = load(order.target)
    target.prepare()
    workers = order.workers or side_by_side(target.file, len(os.sched_getaffinity(0)))
    order = replace(order, target=f"{target.file.name}:{target.version}", workers=workers)
    said = Console(quiet=True) if as_json else console
    campaign = Campaign.create(order, runs)
    said.print(
        f"[bold]fencepost campaign[/bold] · {order.target} · {order.backend} · seed {order.seed} · "
        f"{workers} side by side · {campaign.folder}",
        highlight=False,
    )
    missing = tuple(left_out(target.file, order.backend))
    for reason in dict.fromkeys(each.reason for each in missing):
        kinds = ", ".join(each.kind for each in missing if each.reason == reason)
        said.print(Text(f"{'left out':<{MARGIN}}{kinds}: {reason}", "dim"))
    tally = _Tally(campaign, missing, said)
    interrupted = False
    with campaign, at_once(campaign.kill):
        try:
            _drive(tally, said)
        except KeyboardInterrupt:
            interrupted = True
            said.print(f"interrupted: ending {len(campaign.running)} runs …")
            campaign.interrupt()
            tally.step(begin=False)
    summary = tally.save()
    if as_json:
        print(json.dumps(summary.to_json(), indent=2))
    else:
        for rendered in shown(summary):
            console.print(rendered, highlight=False)
        console.print(f"{'look':<{MARGIN}}{campaign.folder / 'summary.json'}", highlight=False)
    if interrupted:
        raise KeyboardInterrupt
    return summary.verdict.exit_code


def show_plans(order: Order, console: Console) -> None:
    """What the first plans of a campaign would break, with the seed of each."""
    for number in range(1, (order.plans or DRY) + 1):
        plan = order.plan(number)
        console.print(Text.assemble((f"{plan.seed:<{MARGIN}}", "dim"), plan.title))


def shown(summary: Summary) -> Iterator[RenderableType]:
    counts = "   ".join(f"{number} {verdict.value}" for verdict, number in summary.counts().items())
    over = f"   {summary.interrupted} interrupted" if summary.interrupted else ""
    yield Text(f"\n{len(summary.outcomes)} plans   {counts}{over}   {duration(summary.seconds)}", "bold")
    roles, rows = grid(summary.met)
    if rows:
        yield Text("\nwhich fault met whom, and how often in which state (if not serving)")
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("fault", no_wrap=True)
        for role in roles:
            table.add_column(role)
        for fault, cells in rows:
            table.add_row(fault, *cells)
        yield table
    for difference, outcomes in summary.differences().items():
        seeds = ", ".join(str(outcome.seed) for outcome in outcomes)
        yield Text(f"{difference:<{MARGIN}}known difference, as listed; it showed in plans {seeds}")
    for outcome in summary.failures:
        yield Text()
        text = Text(f"{outcome.verdict.value:<{MARGIN}}{outcome.title}\n{'':<{MARGIN}}{outcome.headline}")
        text.stylize(COLOURS[outcome.verdict], 0, len(outcome.verdict.value))
        if outcome.replay is not None:
            text.append(f"\n{'again':<{MARGIN}}{outcome.replay}")
        yield text


class _Tally:
    """What a campaign came to so far: told as it comes, and on disk after each plan."""

    def __init__(self, campaign: Campaign, missing: tuple[LeftOut, ...], console: Console) -> None:
        self.campaign = campaign
        self.board = Board(campaign.began)
        self._missing = missing
        self._console = console
        self._outcomes: dict[str, Outcome] = {}
        self._met: list[Meeting] = []
        self._in_vain = 0
        """How many plans in a row ended before they had a run folder."""

    def step(self, *, begin: bool = True) -> None:
        """Begin what can be begun, take in what has ended."""
        for line in self.campaign.step(begin=begin):
            self.board.apply(line)
        ended = [each for each in self.campaign.attempts if each.ended and each.story not in self._outcomes]
        for attempt in ended:
            self._take(attempt)
        if ended:
            self.save()

    def save(self) -> Summary:
        """Where the disk is full, or the folder is gone, it is still shown."""
        counted = self._counted()
        summary = Summary(
            order=self.campaign.order,
            seconds=time.monotonic() - self.campaign.began,
            outcomes=tuple(sorted(counted, key=lambda outcome: outcome.number)),
            interrupted=len(self.campaign.attempts) - len(counted),
            met=tuple(self._met),
            left_out=self._missing,
        )
        try:
            write_json(self.campaign.folder / "summary.json", summary.to_json())
        except OSError as error:
            self._console.print(f"the summary could not be written: {error}", style="red")
        return summary

    def _counted(self) -> list[Outcome]:
        """A run that was told to end is no failure; what it broke until then it broke."""
        interrupted = {attempt.story for attempt in self.campaign.attempts if attempt.interrupted}
        return [
            outcome
            for story, outcome in self._outcomes.items()
            if story not in interrupted or outcome.verdict is Verdict.VIOLATION
        ]

    def _take(self, attempt: Attempt) -> None:
        row = self.board.rows.get(attempt.story)
        if row is None or not row.over:
            row = _lost(attempt, self.board)
        if not attempt.interrupted:
            self._console.print(finished_line(row))
        try:
            self._met += _meetings(row)
            differences = _differences(row)
        except (OSError, ValueError, FolderError, JournalError, PlanError) as error:
            self._console.print(f"{'':<{MARGIN}}{row.run} cannot be read, and is in no table: {error}")
            differences = ()
        self._outcomes[attempt.story] = _outcome(attempt, row, differences)
        self._in_vain = 0 if row.run is not None or attempt.interrupted else self._in_vain + 1
        if self._in_vain == STANDING and not self.campaign.given_up:
            self.campaign.given_up = True
            self._console.print(f"given up: {STANDING} plans in a row ended before their runs began", style="red")


def _drive(tally: _Tally, console: Console) -> None:
    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
    if live is not None:
        live.start()
    try:
        while not tally.campaign.over:
            tally.step()
            if live is not None:
                live.update(Group(*_below(tally.campaign, tally.board)), refresh=True)
            time.sleep(POLL)
        tally.step(begin=False)
    finally:
        if live is not None:
            live.stop()


def _below(campaign: Campaign, board: Board) -> Iterator[RenderableType]:
    for row in board.running:
        yield Text(f"  {'running':<13}{row.title[:70]:<72}{row.step or row.phase.value}", "cyan")
    left, total = campaign.left(time.monotonic()), campaign.order.minutes * 60
    counts = "  ".join(f"{number} {verdict.value}" for verdict, number in board.counts().items())
    ends = f"about {duration(left)} left" if left else "no plan is begun any more"
    if campaign.order.plans is not None:
        ends = f"{len(board.done)} of {campaign.order.plans} plans, {ends}"
    bar = Table.grid(padding=(0, 2))
    bar.add_row(Text(""), ProgressBar(total=total or 1, completed=(total - left) or 1, width=36), ends, counts)
    yield bar


def _lost(attempt: Attempt, board: Board) -> Row:
    """A run whose process ended without a verdict: no pass."""
    row = board.rows.setdefault(attempt.story, Row(attempt.story, attempt.plan.title))
    said = attempt.log.read_text(errors="replace").strip().splitlines()
    row.phase, row.verdict = Phase.DONE, Verdict.INFRASTRUCTURE
    row.headline = f"it ended with exit code {attempt.process.returncode}: {said[-1] if said else attempt.log}"
    return row


def _outcome(attempt: Attempt, row: Row, differences: tuple[str, ...]) -> Outcome:
    return Outcome(
        number=attempt.number,
        seed=attempt.plan.seed,
        title=attempt.plan.title,
        verdict=row.verdict or Verdict.INFRASTRUCTURE,
        seconds=row.seconds or 0.0,
        headline=row.headline or "it left no verdict",
        run=row.run,
        differences=differences,
    )


def _differences(row: Row) -> tuple[str, ...]:
    if row.run is None:
        return ()
    verdict = RunVerdict.load(RunFolder(Path(row.run)).verdict)
    found = {finding.difference for finding in verdict.of(Verdict.PASS) if finding.difference is not None}
    return tuple(sorted(found))


def _meetings(row: Row) -> list[Meeting]:
    if row.run is None:
        return []
    folder = RunFolder(Path(row.run))
    return meetings(load_plan(folder.plan), read_journal(folder.journal))
