"""One run of a campaign, in a process of its own: `python -m fencepost.harness.campaign.worker PLAN RUNS BACKEND`.

It ends once a claim is broken for certain, unless `--to-the-end` follows.

Whatever happens to it happens to no other run. Ctrl-C reaches it from the campaign; the run then stops and is judged
as any interrupted run is. `$FENCEPOST_PROGRESS` names the file that it tells its progress to.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType

from fencepost.harness.engine.run import RunInterrupt, run
from fencepost.harness.plan import load_plan
from fencepost.harness.plan.prose import steps_in_words
from fencepost.results.records.progress import Phase, Progress


def main(plan_file: str, runs: str, backend: str, to_the_end: str = "") -> int:
    plan = load_plan(Path(plan_file))
    progress = Progress.from_environment(plan.scenario, plan.title, ())
    progress.steps = steps_in_words(plan)
    progress.report(Phase.STARTING)
    try:
        folder, verdict = run(plan, Path(runs), backend, listener=progress, end_early=not to_the_end)
    except RunInterrupt as over:
        folder, verdict = over.folder, over.verdict
    progress.report(Phase.DONE, verdict=verdict.verdict.value, run=str(folder.path), headline=verdict.headline)
    return verdict.verdict.exit_code


def _terminated(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C does."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(main(*sys.argv[1:]))
