"""`fencepost campaign`: random plans until the time is up. Shows what runs while it goes, and a summary at the end."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.console import Console, RenderableType
from rich.text import Text

from fencepost.harness.backends import check_backend, prepare
from fencepost.harness.campaign.campaign import Attempt, Campaign, Order
from fencepost.harness.campaign.coverage import Meeting, meetings
from fencepost.harness.campaign.guidance import Guidance
from fencepost.harness.campaign.learning import learn as learn_from
from fencepost.harness.campaign.planner import VERSION, LeftOut, left_out
from fencepost.harness.campaign.summary import PlanOutcome, Summary
from fencepost.harness.cli.board import Board, Row
from fencepost.harness.cli.campaign_summary import shown
from fencepost.harness.cli.commands.scenarios import CampaignOptions
from fencepost.harness.cli.conformance import side_by_side
from fencepost.harness.cli.display import LinesBelow, print_finished, progress_bar, running_line
from fencepost.harness.cli.eta import about_left
from fencepost.harness.cli.fleet import NEEDS_ON, on_a_fleet
from fencepost.harness.cli.index import write_pages
from fencepost.harness.cli.publish import check_store, publish_at_end, store_errors
from fencepost.harness.cli.signals import at_once
from fencepost.harness.cli.suite_outputs import CiOutputs
from fencepost.harness.disk_space import check_disk_space
from fencepost.harness.engine.watchdog import JUDGED
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import PlanError, load_plan
from fencepost.harness.plan.security import spelled_out
from fencepost.harness.processes.waiting import within
from fencepost.harness.targets.reference import plant
from fencepost.harness.targets.registry import load
from fencepost.harness.targets.securing import check_security, security_for
from fencepost.harness.terminal import console_beside, counted, terminal
from fencepost.results.records.files import write_json
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalError, read_journal
from fencepost.results.records.progress import Phase
from fencepost.results.records.verdict import RunVerdict, Verdict
from fencepost.results.store.store import Store

POLL = 0.2
DRY_RUN_PLANS = 10
"""Plans that --dry-run shows without --plans."""
MARGIN = 15
FAILED_STARTS = 5
"""Plans in a row without a run after which a campaign gives up: the next plans would fail for the same reason."""


def campaign(options: CampaignOptions) -> int:
    """Run a campaign, or show its first plans; return the exit code."""
    plant(options.mutant)
    if not options.dry_run:
        check_store(options.publish)  # first: a campaign may learn from the store that it makes
    known = known_before(options, console_beside(options.as_json))
    order = Order(
        options.target,
        options.backend,
        options.seed,
        options.minutes,
        options.workers,
        options.plans,
        options.pairwise,
        known,
        options.to_the_end,
        options.plans_per_cluster,
        options.security,
    )
    target = load(order.target)
    secured = spelled_out(security_for(target.file, order.security))
    check_security(target, secured)
    if secured.secures and order.pairwise:
        raise UsageError("--pairwise is for clusters without security: leave it out")
    if order.plans_per_cluster > 1 and (order.pairwise or known is not None):
        raise UsageError(
            "--plans-per-cluster generates plans for the cluster at hand: leave out --pairwise, --learn and --guidance"
        )
    if options.dry_run:
        load(options.target)  # its driver refuses a version that does not exist
        show_plans(order, terminal())
        return 0
    outputs = CiOutputs(options.summary, options.annotations)
    if options.on is not None or any(getattr(options, each) for each in NEEDS_ON):
        return on_a_fleet(options, order, outputs)
    return run_campaign(
        order, options.runs, terminal(), as_json=options.as_json, outputs=outputs, publish=options.publish
    )


def run_campaign(
    order: Order,
    runs: Path,
    console: Console,
    *,
    as_json: bool = False,
    outputs: CiOutputs | None = None,
    publish: str | None = None,
) -> int:
    """Run plans until the time is up; return the exit code of the worst verdict.

    After Ctrl-C it ends all runs, writes the summary and raises KeyboardInterrupt.
    """
    check_backend(order.backend)
    check_disk_space(runs)
    if outputs is not None:
        outputs.check()
    target = load(order.target)
    prepare(order.backend, target)  # here, since a run has only so much time
    workers = order.workers or side_by_side(target.file, len(os.sched_getaffinity(0)))
    order = replace(order, target=f"{target.file.name}:{target.version}", workers=workers)
    progress = Console(quiet=True) if as_json else console
    campaign = Campaign.create(order, runs)
    progress.print(
        f"[bold]fencepost campaign[/bold] · {order.target} · {order.backend} · seed {order.seed} · "
        f"{workers} side by side · {campaign.folder}",
        highlight=False,
    )
    missing = tuple(left_out(target.file, order.backend, target.version, order.security))
    if order.pairwise:
        print_pairs(order, progress)
        missing += tuple(order.pairs.left_out)
    for reason in dict.fromkeys(each.reason for each in missing):
        kinds = ", ".join(each.kind for each in missing if each.reason == reason)
        progress.print(Text(f"{'left out':<{MARGIN}}{kinds}: {reason}", "dim"))
    tally = _Tally(campaign, missing, progress)
    interrupted = False
    with campaign, at_once(campaign.kill):
        try:
            _drive(tally, progress)
        except KeyboardInterrupt:
            interrupted = True
            progress.print(f"interrupted: ending {len(campaign.running)} runs …")
            campaign.interrupt()
            tally.step(begin=False)
    summary = tally.save()
    page = write_pages(campaign.folder, runs)
    if as_json:
        print(json.dumps(summary.to_json(), indent=2))
    else:
        for rendered in shown(summary):
            console.print(rendered, highlight=False)
        console.print(f"{'summary':<{MARGIN}}{campaign.folder / 'summary.json'}", highlight=False)
        console.print(f"{'page':<{MARGIN}}{page}", highlight=False, soft_wrap=True)
    if outputs is not None:
        outputs.write(summary.as_suite(), None, progress)  # quiet with --json, whose output has nothing else
    published = publish_at_end([campaign.folder], publish, progress) if publish is not None else Verdict.PASS
    if interrupted:
        raise KeyboardInterrupt
    return Verdict.worst((summary.verdict, published)).exit_code


def known_before(options: CampaignOptions, console: Console) -> Guidance | None:
    """Return what earlier runs had, from a store or from a file; None without either. Raise UsageError."""
    store, file = options.learn, options.guidance
    if store is None and file is None:
        return None
    if store is not None and file is not None:
        raise UsageError("--learn and --guidance exclude each other: the file has what was learned from a store")
    if options.pairwise:
        raise UsageError("--pairwise has a fixed list of plans, and learns nothing: leave out --learn and --guidance")
    loaded = load(options.target)
    if file is None:
        assert store is not None
        with store_errors():
            guidance = learn_from(Store.open(store), loaded.file.name, loaded.version, options.mutant)
    else:
        guidance = Guidance.load(file)
        if guidance.target != loaded.file.name:
            raise UsageError(f"{file} is about {guidance.target}, and the target is {loaded.file.name}: learn again")
        if guidance.planner != VERSION:
            console.print(
                f"{'guidance':<{MARGIN}}of planner {guidance.planner}; this one is {VERSION}, and its plans are others",
                style="yellow",
            )
    console.print(
        f"{'learned':<{MARGIN}}{counted(guidance.runs, 'random plan')} on {guidance.target} {guidance.release}: "
        f"{counted(sum(each.factors == 4 for each in guidance.counts), 'combination')} of fault, role, state and "
        f"clients; {counted(len(guidance.failures), 'kind')} of failures",
        highlight=False,
    )
    return guidance


def show_plans(order: Order, console: Console) -> None:
    """Print what the first plans of a campaign would break, with the seed of each, and the way in which it was chosen
    if the campaign learns."""
    if order.pairwise:
        print_pairs(order, console)
    for number in range(1, (order.most or DRY_RUN_PLANS) + 1):
        plan = order.plan(number)
        way = f"{order.choice(number).way.value:<6}" if order.guidance is not None else ""
        console.print(Text.assemble((f"{plan.seed:<{MARGIN}}", "dim"), way, plan.title))


def print_pairs(order: Order, console: Console) -> None:
    """Print what the plans of a pairwise campaign have together."""
    pairs = order.pairs
    console.print(
        f"{'pairwise':<{MARGIN}}{counted(len(pairs.plans), 'plan')} with all {len(pairs.pairs)} pairs of "
        f"{counted(len(pairs.operations), 'operation')}, {counted(len(pairs.faults), 'fault')} and "
        f"{counted(len({role for _, role in pairs.legal}), 'role')}",
        highlight=False,
    )


class _Tally:
    """The results of a campaign so far: printed as each plan ends, and written to disk after it."""

    def __init__(self, campaign: Campaign, missing: tuple[LeftOut, ...], console: Console) -> None:
        self.campaign = campaign
        self.board = Board(campaign.began)
        self._missing = missing
        self._console = console
        self._outcomes: dict[str, PlanOutcome] = {}
        self._met: list[Meeting] = []
        self._failed_starts = 0
        """Plans in a row that ended before they had a run folder."""

    def step(self, *, begin: bool = True) -> None:
        """Begin the plans that can begin, and count those that have ended."""
        for line in self.campaign.step(begin=begin):
            self.board.apply(line)
        ended = [each for each in self.campaign.attempts if each.ended and each.scenario not in self._outcomes]
        for attempt in ended:
            self._take(attempt)
        if ended:
            self.save()

    def save(self) -> Summary:
        """Write the summary and return it, also if it cannot be written (full disk, folder removed)."""
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
            self._console.print(f"the summary could not be written into {self.campaign.folder}: {error}", style="red")
        return summary

    def _counted(self) -> list[PlanOutcome]:
        """Return the outcomes that count. An interrupted run is no failure, unless it found a violation before."""
        interrupted = {attempt.scenario for attempt in self.campaign.attempts if attempt.interrupted}
        return [
            outcome
            for scenario, outcome in self._outcomes.items()
            if scenario not in interrupted or outcome.verdict is Verdict.VIOLATION
        ]

    def _take(self, attempt: Attempt) -> None:
        row = self.board.rows.get(attempt.scenario)
        if row is None or not row.over:
            row = _lost(attempt, self.board)
        if attempt.overdue:
            row.headline = f"long after its deadline the run was not over, so it was ended: {row.headline}"
        if not attempt.interrupted:
            print_finished(self._console, row, len(row.scenario))
        try:
            self._met += _meetings(row)
            saved = _verdict_of(row)
        except (OSError, ValueError, JournalError, PlanError) as error:
            self._console.print(f"{'':<{MARGIN}}{row.run} cannot be read and is left out of the tables: {error}")
            saved = None
        self._outcomes[attempt.scenario] = _outcome(attempt, row, saved)
        self._failed_starts = 0 if row.run is not None or attempt.interrupted else self._failed_starts + 1
        if self._failed_starts == FAILED_STARTS and not self.campaign.given_up:
            self.campaign.given_up = True
            self._console.print(
                f"given up: {FAILED_STARTS} plans in a row ended before their runs began; the lines above say why",
                style="red",
            )


def _drive(tally: _Tally, console: Console) -> None:
    with LinesBelow(console, lambda now: _below(tally.campaign, tally.board, now)) as below:
        while not tally.campaign.over:
            tally.step()
            below.refresh(time.monotonic())
            time.sleep(POLL)
        tally.step(begin=False)


def _below(campaign: Campaign, board: Board, now: float) -> Iterator[RenderableType]:
    yield from map(running_line, board.running)
    left, total = campaign.left(now), campaign.order.minutes * 60
    counts = "  ".join(f"{number} {verdict.value}" for verdict, number in board.counts().items())
    ends = about_left(left) if left else "no further plan starts"
    if campaign.order.most is not None:
        ends = f"{len(board.done)} of {campaign.order.most} plans, {ends}"
    yield progress_bar(total or 1, (total - left) or 1, ends, counts)


def _lost(attempt: Attempt, board: Board) -> Row:
    """Return the row of a run whose process ended without a verdict: infrastructure, not a pass.

    What the run's watcher made of it counts as well, once it has cleaned up.
    """
    row = board.rows.setdefault(attempt.scenario, Row(attempt.scenario, attempt.title))
    said = attempt.log.read_text(errors="replace").strip().splitlines()
    row.phase, row.verdict = Phase.DONE, Verdict.INFRASTRUCTURE
    row.headline = f"the run ended with exit code {attempt.process.returncode}: {said[-1] if said else attempt.log}"
    if (folder := attempt.folder) is not None and not attempt.interrupted:
        row.run = str(folder.path)
        if within(JUDGED, folder.verdict.exists, longest_pause=POLL):
            judged = RunVerdict.load(folder.verdict)
            row.verdict, row.headline = Verdict.worst((judged.verdict, row.verdict)), judged.headline
    return row


def _outcome(attempt: Attempt, row: Row, saved: RunVerdict | None) -> PlanOutcome:
    differences = {each.difference for each in saved.of(Verdict.PASS) if each.difference} if saved is not None else ()
    return PlanOutcome(
        number=attempt.number,
        seed=attempt.seed,
        title=attempt.title,
        verdict=row.verdict or Verdict.INFRASTRUCTURE,
        seconds=row.seconds or 0.0,
        headline=row.headline or "the run left no verdict",
        run=row.run,
        differences=tuple(sorted(differences)),
        planted_defect=saved.planted_defect if saved is not None else "",
    )


def _verdict_of(row: Row) -> RunVerdict | None:
    return None if row.run is None else RunVerdict.load(RunFolder(Path(row.run)).verdict)


def _meetings(row: Row) -> list[Meeting]:
    if row.run is None:
        return []
    folder = RunFolder(Path(row.run))
    return meetings(load_plan(folder.plan), read_journal(folder.journal))
