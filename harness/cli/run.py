"""`fencepost run` and `fencepost replay`: one plan to its verdict, and again, to count how often it fails as before."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from fencepost.harness.cli.commands.runs import ReplayOptions, RunOptions
from fencepost.harness.cli.plan import plan_to_run
from fencepost.harness.cli.run_display import RunDisplay, Series, as_data, show_verdict
from fencepost.harness.cli.run_progress import RunProgress
from fencepost.harness.engine.chained import run_after
from fencepost.harness.engine.run import RunInterrupt
from fencepost.harness.engine.run import run as run_plan
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import Plan
from fencepost.harness.reproduction.replaying import Original, Replays
from fencepost.harness.reproduction.replaying import replay as run_again
from fencepost.harness.targets.consent import give_consent
from fencepost.harness.targets.reference import plant, plant_again
from fencepost.harness.targets.registry import load_file
from fencepost.harness.targets.securing import impossible, security_for, with_security
from fencepost.harness.terminal import console_beside, counted
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import RunVerdict, Verdict
from fencepost.suites.scenarios import SCENARIOS

RunOne = Callable[..., tuple[RunFolder, RunVerdict]]
"""Runs a plan: all but the plan and the `listener` of its progress is settled."""


def run(options: RunOptions) -> int:
    """Run a scenario or a plan file and show the verdict; return its exit code."""
    plant(options.mutant)
    give_consent(options.owned)
    plan = plan_to_run(options.source, options.target, options.seed)
    plan = with_security(plan, security_for(load_file(plan.target), options.security))
    if (reason := impossible(plan)) is not None:
        raise UsageError(f"with this `security`: {reason}")
    console = console_beside(options.as_json)
    try:
        with RunDisplay(console, RunProgress.of(plan, options.runs, usual_seconds(plan.scenario))) as display:
            folder, verdict = run_plan(
                plan, options.runs, options.backend, listener=display, end_early=options.end_early
            )
    except RunInterrupt as interrupted:
        folder, verdict = interrupted.folder, interrupted.verdict
    if options.as_json:
        print(json.dumps(as_data(folder, verdict), indent=2))
    else:
        show_verdict(console, folder, verdict)
    return verdict.verdict.exit_code


def usual_seconds(scenario: str) -> float | None:
    """Return about how many seconds a scenario takes on the reference cluster; None if no suite has it."""
    return next((float(each.seconds) for each in SCENARIOS if each.slug == scenario), None)


def replay(options: ReplayOptions) -> int:
    """Run the plan of a run folder or a plan file `times` times; return the exit code of the worst verdict."""
    give_consent(options.owned)
    original = Original.read(options.source, options.runs or Path("runs"))
    replays = Replays(original, options.times, options.backend or original.backend or "process")
    console = console_beside(options.as_json)
    if defect := plant_again(original.planted_defect):
        console.print(f"{'planted':<15}{defect}")
    runs = options.runs or original.runs
    run_first = partial(run_after, original.chain) if original.chain else run_plan
    run_one = partial(run_first, runs=runs, backend=replays.backend, end_early=options.end_early)
    if original.chain:
        console.print(f"{'before it':<15}{counted(len(original.chain), 'plan')} on the same cluster")
    if options.times == 1:
        _run_once(replays, run_one, runs, console)
    else:
        _run_series(replays, run_one, console)
    if replays.interrupted:
        console.print(f"interrupted after {len(replays.done)} of {options.times} runs")
    if options.as_json:
        print(json.dumps(replays.to_json(), indent=2))
    elif options.times > 1:
        _show_count(replays, console)
    return replays.worst.exit_code


def _run_once(replays: Replays, run_one: RunOne, runs: Path, console: Console) -> None:
    with RunDisplay(console, RunProgress.of(replays.original.plan, runs)) as display:
        made = list(run_again(replays, partial(run_one, listener=display)))
    for one in made:
        show_verdict(console, one.folder, one.verdict)


def _run_series(replays: Replays, run_one: RunOne, console: Console) -> None:
    with Series(console, replays.wanted) as series:

        def run_next(plan: Plan) -> tuple[RunFolder, RunVerdict]:
            series.begin(f"{len(replays.done) + 1} of {replays.wanted}")
            return run_one(plan, listener=series)

        for one in run_again(replays, run_next):
            broken = " ".join(sorted(one.signature.broken))
            note = one.verdict.headline if one.verdict.verdict is Verdict.INFRASTRUCTURE else broken
            series.done(one.verdict.verdict, f"{note}  {one.folder.path}".strip())


def _show_count(replays: Replays, console: Console) -> None:
    console.print(replays.message())
    for rule, count in replays.broken.most_common():
        console.print(f"{'':<15}{rule}: broken in {count} of {replays.hits}", markup=False)
