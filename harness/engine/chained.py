"""A run on a cluster that other plans ran on before: the cluster is as old as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from fencepost.harness.engine.execute import ProgressListener
from fencepost.harness.engine.living import LivingCluster
from fencepost.harness.engine.run import run
from fencepost.harness.plan.model import Plan
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import RunVerdict, Verdict


def run_after(
    chain: Sequence[Plan],
    plan: Plan,
    runs: Path,
    backend: str,
    listener: ProgressListener | None = None,
    *,
    end_early: bool = False,
    passed: Callable[[RunFolder], None] = lambda folder: None,
) -> tuple[RunFolder, RunVerdict]:
    """Run the plans of a chain and then another plan, all on one cluster; raise as `run` does.

    Return the folder and the verdict of the last, or of the first that does not pass: the cluster ends with it.
    `passed` is called with the folder of each that passed before the last.
    """
    if not chain:
        return run(plan, runs, backend, listener, end_early=end_early)
    with LivingCluster() as living:
        for each in (*chain, plan):
            folder, verdict = run(each, runs, backend, listener, end_early=end_early, living=living)
            if verdict.verdict is not Verdict.PASS:
                break
            if each is not plan:
                passed(folder)
        return folder, verdict
