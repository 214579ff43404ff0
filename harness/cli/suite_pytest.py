"""The pytest session of `fencepost conformance`: a process group of its own, whose output goes to a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from fencepost.harness.cli.commands.scenarios import ConformanceOptions
from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.results.records.progress import VARIABLE

GRACE = 30.0
"""Seconds in which the test processes have to end their clusters after an interrupt."""
QUICK = ("--assert=plain", "-p", "no:hypothesispytest", "-p", "no:pytest_cov", "-p", "no:asyncio")
"""Options that turn off pytest features which no scenario uses; their processor time would be missing to the nodes."""


def start(
    options: ConformanceOptions, suites: Path, workers: int, progress: Path, log: Path
) -> subprocess.Popen[bytes]:
    """Start the session. It appends its progress to one file, and what pytest prints to another."""
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", str(suites), *_arguments(options, suites), "-n", str(workers)],
            env={**os.environ, VARIABLE: str(progress)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=end_on_interrupt,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt the tests as Ctrl-C would, so that they end their clusters; kill them after GRACE."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _arguments(options: ConformanceOptions, suites: Path) -> Iterator[str]:
    # Named, because pytest looks for it from every argument that exists as a path, also from the value of --runs.
    yield from ("-c", str(suites / "pytest.ini"))
    yield from options.session.arguments()
    if options.only:
        yield from ("-k", options.only)
    if options.junitxml is not None:
        yield f"--junitxml={options.junitxml}"
    yield from ("--dist", "worksteal", "-q", *QUICK)
