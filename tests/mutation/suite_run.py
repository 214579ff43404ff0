"""Many scenarios as one run of the suite, with clusters side by side, that ends at the first violation."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fencepost.results.records.verdict import RunVerdict, Verdict

POLL = 1.0
"""Seconds between two looks for runs that have ended."""
GRACE = 120.0
"""Seconds in which the suite has to end its clusters after an interrupt."""


def selection(slugs: Sequence[str]) -> str:
    """Return the expression for `-k` that selects these scenarios; it may select others whose names have one of them.

    Raises ValueError if there is none: an empty expression would select all.
    """
    if not slugs:
        raise ValueError("there is no scenario to select")
    return " or ".join(slugs)


def ended_runs(
    command: Sequence[str], runs: Path, cwd: Path, environment: Mapping[str, str], within: float
) -> Iterator[RunVerdict]:
    """Run a command that leaves run folders below `runs`; yield each verdict as its run ends, up to a violation.

    After a violation, or `within` seconds, the command is interrupted as by Ctrl-C and its clusters end.
    """
    seen = set(runs.glob("*/verdict.json"))
    until = time.monotonic() + within
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0
    )
    try:
        over = False
        while not over:
            over = process.poll() is not None or time.monotonic() > until  # look once more after the end
            for path in sorted(set(runs.glob("*/verdict.json")) - seen):
                seen.add(path)
                verdict = RunVerdict.load(path)
                yield verdict
                if verdict.verdict is Verdict.VIOLATION:
                    return
            if not over:
                time.sleep(POLL)
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
