"""Runs of a campaign, in a process of its own: `python -m fencepost.harness.campaign.worker RUNS BACKEND PLAN...`.

Several plans run one after the other on a cluster that lives on, as long as nothing speaks against it; then on a new
one. No further plan begins after `--until` (seconds of the system's monotonic clock). A run ends once a claim is broken
for certain, unless `--to-the-end` is given.

Whatever happens to it happens to no other process. Ctrl-C reaches it from the campaign; the run then stops and is
judged as any interrupted run is. `$FENCEPOST_PROGRESS` names the file that it tells its progress to.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from math import inf
from pathlib import Path
from types import FrameType

from fencepost.harness.engine.living import LivingCluster
from fencepost.harness.engine.run import RunInterrupt, run
from fencepost.harness.plan import load_plan
from fencepost.harness.plan.prose import steps_in_words
from fencepost.results.records.progress import Phase, Progress


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", type=Path)
    parser.add_argument("backend")
    parser.add_argument("plans", type=Path, nargs="+")
    parser.add_argument("--until", type=float, default=inf)
    parser.add_argument("--to-the-end", action="store_true")
    order = parser.parse_args(arguments)
    begun = False
    with LivingCluster() as cluster:
        living = cluster if len(order.plans) > 1 else None
        for file in order.plans:
            if begun and time.monotonic() >= order.until:
                break
            if not _run(file, order.runs, order.backend, living, end_early=not order.to_the_end):
                break
            begun = True


def _run(file: Path, runs: Path, backend: str, living: LivingCluster | None, *, end_early: bool) -> bool:
    """Run one plan, and return whether it was not interrupted."""
    plan = load_plan(file)
    progress = Progress.from_environment(plan.scenario, plan.title, ())
    progress.steps = steps_in_words(plan)
    progress.report(Phase.STARTING)
    interrupted = False
    try:
        folder, verdict = run(plan, runs, backend, listener=progress, end_early=end_early, living=living)
    except RunInterrupt as over:
        folder, verdict, interrupted = over.folder, over.verdict, True
    progress.report(Phase.DONE, verdict=verdict.verdict.value, run=str(folder.path), headline=verdict.headline)
    return not interrupted


def _terminated(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C does."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminated)
    main(sys.argv[1:])
