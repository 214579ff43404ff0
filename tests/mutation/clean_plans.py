"""Random plans on healthy clusters: each violation is a false alarm, until it proves to be a defect of the cluster."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fencepost.results.records.folder import Manifest
from fencepost.results.records.verdict import Verdict
from tests.mutants.planting import VARIABLE
from tests.mutation.record import CleanPlans
from tests.mutation.trials import PROGRAM, ROOT


def run_clean_plans(target: str, plans: int, minutes: float, seed: int, runs: Path, commit: str) -> CleanPlans:
    """Run a campaign without a defect and count its verdicts. Raises RuntimeError if it left no summary."""
    command = [*PROGRAM, "campaign", target, "--plans", str(plans), "--minutes", str(minutes), "--seed", str(seed)]
    command += ["--workers", "1", "--runs", str(runs), "--json"]
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, VARIABLE: ""}, stdout=subprocess.PIPE, check=False)
    try:
        outcomes = json.loads(ended.stdout)["outcomes"]
    except ValueError as error:
        raise RuntimeError(f"the campaign on {target} ended with {ended.returncode} and left no summary") from error
    return _counted(outcomes, target, seed, commit, datetime.now(UTC))


def read_campaign(summary: Path) -> CleanPlans:
    """Count the plans of a campaign that was run on healthy nodes, from its `summary.json`.

    Raises ValueError if nodes had a planted defect.
    """
    saved = json.loads(summary.read_text("utf-8"))
    outcomes = saved["outcomes"]
    if any(each.get("planted_defect") for each in outcomes):
        raise ValueError(f"{summary}: its nodes had a planted defect, so its plans are not clean")
    manifests = (Path(each["run"], "manifest.json") for each in outcomes if each.get("run"))
    commits = [Manifest.load(each).commit[:7] for each in manifests if each.is_file()]
    target = saved["target"].partition(":")[0]
    ended = datetime.fromtimestamp(summary.stat().st_mtime, UTC)
    return _counted(outcomes, target, saved["seed"], commits[0] if commits else "", ended)


def _counted(outcomes: Sequence[dict[str, Any]], target: str, seed: int, commit: str, at: datetime) -> CleanPlans:
    verdicts = [each["verdict"] for each in outcomes]
    return CleanPlans(
        target=target,
        seed=seed,
        plans=len(verdicts),
        passed=verdicts.count(Verdict.PASS.value),
        infrastructure=verdicts.count(Verdict.INFRASTRUCTURE.value),
        inconclusive=verdicts.count(Verdict.INCONCLUSIVE.value),
        alarms=tuple(
            f"seed {each['seed']}: {each['headline']}"
            for each in outcomes
            if each["verdict"] == Verdict.VIOLATION.value
        ),
        commit=commit,
        date=at.strftime("%Y-%m-%d"),
    )
