"""Runs the suites through pytest, in a process of its own, and shows how they get on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, RenderableType
from rich.table import Table

from harness.backends import check_backend
from harness.backends.premises import prepare
from harness.cli.board import Board
from harness.cli.display import Display
from harness.cli.signals import at_once
from harness.cli.summary import summary
from harness.conformance.progress import VARIABLE, new_lines
from harness.errors import InfrastructureError, UsageError
from harness.processes.interrupts import heed_interrupts
from harness.room import check_room
from harness.targets.target import TargetFile, load
from results.records.verdict import Verdict

POLL = 0.1
GRACE = 30.0
"""Seconds that the test processes have to end their clusters after an interrupt."""
NO_TESTS = 5
"""pytest's exit code when nothing was selected."""


@dataclass(frozen=True)
class Request:
    """What the command line asked for. `workers` 0: as many clusters side by side as the cores carry."""

    target: str
    seed: int
    runs: Path
    backend: str
    only: str | None = None
    workers: int = 0


def run_suites(request: Request, suites: Path, console: Console) -> int:
    """Run every story that was asked for. The exit code is that of the worst verdict.

    Raises UsageError for a backend that there is not or if no story was selected, InfrastructureError if pytest itself
    failed.
    """
    check_backend(request.backend)
    check_room(request.runs)
    target = load(request.target)
    prepare(request.backend, target)
    workers = request.workers or side_by_side(target.file, len(os.sched_getaffinity(0)))
    console.print(_header(request, f"{target.file.name} {target.version}", workers))
    with tempfile.TemporaryDirectory(prefix="fencepost-") as scratch:
        progress, log = Path(scratch) / "progress.jsonl", Path(scratch) / "pytest.log"
        progress.touch()
        board = Board(time.monotonic())
        process = _start(request, suites, workers, progress, log)
        try:
            with at_once(lambda: os.killpg(process.pid, signal.SIGKILL)):
                _watch(process, progress, board, console)
        except KeyboardInterrupt:
            console.print(f"interrupted after {len(board.done)} of {len(board.rows)} stories: ending the clusters …")
            raise
        finally:
            with at_once(lambda: os.killpg(process.pid, signal.SIGKILL)):
                _end(process)
        said = log.read_text(errors="replace")
    if not board.rows:
        if process.returncode == NO_TESTS:
            raise UsageError(f"no story matches {request.only!r}: `fencepost stories` lists them")
        raise InfrastructureError(f"the suite did not start, pytest ended with {process.returncode}:\n{said[-3000:]}")
    board.close()
    for rendered in summary(board, time.monotonic(), console.width):
        console.print(rendered, highlight=False)
    if board.verdict is Verdict.PASS and process.returncode != 0:
        raise InfrastructureError(
            f"all that was judged passed, and pytest ended with {process.returncode} all the same:\n{said[-3000:]}"
        )
    console.print(f"exit code {board.verdict.exit_code}", highlight=False)
    return board.verdict.exit_code


def side_by_side(target: TargetFile, cores: int) -> int:
    return max(1, round(target.clusters_per_core * cores))


def _header(request: Request, target: str, workers: int) -> RenderableType:
    nodes_run_as = {"process": "processes", "docker": "containers"}.get(request.backend, request.backend)
    cores = len(os.sched_getaffinity(0))
    header = Table.grid(expand=True)
    header.add_column(ratio=1)
    header.add_column(justify="right")
    header.add_row(
        f"[bold]fencepost[/bold] · {target} · {nodes_run_as} · seed {request.seed}",
        f"{cores} core{'s' * (cores > 1)}, {workers} cluster{'s side by side' if workers > 1 else ' at a time'}",
    )
    return header


def _start(request: Request, suites: Path, workers: int, progress: Path, log: Path) -> subprocess.Popen[bytes]:
    options = ["--target", request.target, "--seed", request.seed, "--runs", request.runs, "--backend", request.backend]
    select = ["-k", request.only] if request.only else []
    argv = [sys.executable, "-m", "pytest", suites, *options, *select, "-n", workers, "--dist", "worksteal", "-q"]
    with log.open("wb") as output:
        return subprocess.Popen(
            list(map(str, argv)),
            env={**os.environ, VARIABLE: str(progress)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=heed_interrupts,
        )


def _watch(process: subprocess.Popen[bytes], progress: Path, board: Board, console: Console) -> None:
    with Display(console, board) as display, progress.open() as file:
        over = False
        while not over:
            over = process.poll() is not None  # read once more after the end
            for line in new_lines(file):
                display.update(board.apply(line), time.monotonic())
            display.refresh(time.monotonic())
            if not over:
                time.sleep(POLL)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt the tests as Ctrl-C would, so that they end their clusters; kill them only if they do not."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
