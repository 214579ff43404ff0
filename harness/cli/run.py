"""`fencepost run`: one scenario, or one plan file, from the plan to the verdict."""

from __future__ import annotations

import json

from fencepost.harness.cli.commands.runs import RunOptions
from fencepost.harness.cli.plan import plan_to_run
from fencepost.harness.cli.run_progress import RunProgress
from fencepost.harness.cli.verdicts import RunDisplay, as_data, show_verdict
from fencepost.harness.engine.run import RunInterrupt
from fencepost.harness.engine.run import run as run_plan
from fencepost.harness.targets.reference import plant
from fencepost.harness.terminal import console_beside
from fencepost.suites.scenarios import SCENARIOS


def run(options: RunOptions) -> int:
    """Run a scenario or a plan file and show the verdict; return its exit code."""
    plant(options.mutant)
    plan = plan_to_run(options.source, options.target, options.seed)
    console = console_beside(options.as_json)
    try:
        with RunDisplay(console, RunProgress.of(plan, options.runs, usual_seconds(plan.scenario))) as display:
            folder, verdict = run_plan(plan, options.runs, options.backend, listener=display)
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
