"""A campaign that ends at the first violation."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fencepost.results.records.verdict import Verdict

POLL = 1.0
"""Seconds between two looks for plans that have ended."""

PlanOutcome = Mapping[str, Any]
"""One plan, as the summary of its campaign has it: `seed`, `verdict`, `run` ..."""


def plans_until_red(
    command: Sequence[str], runs: Path, cwd: Path, environment: Mapping[str, str]
) -> Sequence[PlanOutcome]:
    """Run a command that makes one campaign below `runs`, until a plan is red or it ends; return its plans."""
    earlier = set(runs.glob("campaign-*"))
    process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None and not any(map(is_red, _outcomes(runs, earlier))):
            time.sleep(POLL)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()
    return _outcomes(runs, earlier)


def is_red(plan: PlanOutcome) -> bool:
    return bool(plan["verdict"] == Verdict.VIOLATION.value)


def is_judged(plan: PlanOutcome) -> bool:
    """Return whether the plan says something of the target."""
    return plan["verdict"] in (Verdict.PASS.value, Verdict.VIOLATION.value)


def _outcomes(runs: Path, earlier: set[Path]) -> Sequence[PlanOutcome]:
    for folder in set(runs.glob("campaign-*")) - earlier:
        try:
            return list(json.loads((folder / "summary.json").read_text("utf-8"))["outcomes"])
        except (OSError, ValueError):
            continue  # there is none yet, or it is being written
    return []
