"""One plan as a task of Spark: an executor runs it, and puts its run folder where all machines reach it.

A task that is run again, as its executor was lost, finds what the first one delivered: a judged plan is never run
again. The folder of a run appears under the name of its plan, in one rename, so that it is there whole or not at all.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.engine.watchdog import GRACE, JUDGED, OVERDUE
from fencepost.harness.fleet.executors import NoPlanHere, machine
from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.harness.processes.waiting import within
from fencepost.harness.targets.reference import VARIABLE
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import Verdict

SCRATCH = "fencepost-fleet-"
"""Begins the names of the folders in which plans run on their machine, before the id of the executor's process."""
ARRIVING = ".arriving"


@dataclass(frozen=True)
class Task:
    """A plan for an executor. `folder` is that of the campaign, which all machines reach."""

    number: int
    scenario: str
    seed: int
    title: str
    latest_end: float
    """Seconds from the begin of the run until it is over, at the latest."""
    plan: str
    """The plan file."""
    backend: str
    to_the_end: bool
    folder: str
    defect: str = ""
    """The mutant that the nodes run with."""
    brief: bool = False
    """Only the verdict is delivered of a run that found no violation."""
    left_out: frozenset[str] = frozenset()
    """The executors that get no plan."""


@dataclass(frozen=True)
class Delivered:
    """The result of a plan. Its run folder, if it has one, is in the folder of the campaign."""

    number: int
    scenario: str
    seed: int
    title: str
    verdict: Verdict
    headline: str
    seconds: float
    machine: str
    has_folder: bool


def perform(task: Task) -> Delivered:
    """Run the plan on this machine, unless its run was delivered before.

    Raise NoPlanHere on an executor that gets none, and nothing else: Spark runs the plan again, on another one.
    """
    delivered = RunFolder(Path(task.folder) / task.scenario)
    if (verdict := delivered.try_verdict()) is not None:
        return _result(task, verdict.verdict, verdict.headline, 0.0, has_folder=True)
    if machine() in task.left_out:
        raise NoPlanHere(f"{machine()} gets no plan")
    began = time.monotonic()
    sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=f"{SCRATCH}{os.getpid()}-", ignore_cleanup_errors=True) as scratch:
        try:
            code, said = _run(task, Path(scratch))
            run = next((each for each in _runs(Path(scratch)) if each.plan.is_file()), None)
            if run is None:
                return _result(task, Verdict.INFRASTRUCTURE, f"its run did not begin (exit code {code}): {said}", began)
            within(JUDGED, run.verdict.exists)
            if task.brief and (judged := run.try_verdict()) is not None and judged.verdict is not Verdict.VIOLATION:
                alone = RunFolder(Path(scratch) / "verdict")
                alone.path.mkdir()
                shutil.copy(run.verdict, alone.verdict)
                run = alone
            _deliver(run.path, delivered.path)
        except OSError as error:
            return _result(task, Verdict.INFRASTRUCTURE, f"its run was not delivered: {error}", began)
    judged = delivered.try_verdict()
    if judged is None:
        return _result(task, Verdict.INFRASTRUCTURE, "its run left no verdict", began, has_folder=True)
    return _result(task, judged.verdict, judged.headline, began, has_folder=True)


def _run(task: Task, scratch: Path) -> tuple[int, str]:
    """Run the plan in a process of its own; return its exit code, and the last line that it said."""
    file, log = scratch / f"{task.scenario}.yaml", scratch / "output.log"
    file.write_text(task.plan, encoding="utf-8")
    more = ["--to-the-end"] if task.to_the_end else []
    argv = [sys.executable, "-m", "fencepost.harness.campaign.worker", str(scratch / "runs"), task.backend, str(file)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*argv, *more],
            env={**os.environ, VARIABLE: task.defect},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=end_on_interrupt,  # it ends with the executor
        )
        (scratch / "pid").write_text(str(process.pid))
        for seconds, last in ((task.latest_end + OVERDUE, signal.SIGINT), (GRACE, signal.SIGKILL)):
            try:
                process.wait(seconds)
                break
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, last)
        code = process.wait()
    return code, next(iter(log.read_text(errors="replace").strip().splitlines()[-1:]), "it said nothing")


def _runs(scratch: Path) -> list[RunFolder]:
    return [RunFolder(each) for each in sorted((scratch / "runs").glob("*"))]


def _deliver(run: Path, place: Path) -> None:
    """Copy a run folder beside its place, then rename it. One that is there already stays."""
    arriving = place.parent / ARRIVING / f"{place.name}-{uuid.uuid4().hex}"
    shutil.copytree(run, arriving, symlinks=True)
    try:
        arriving.rename(place)
    except OSError:
        shutil.rmtree(arriving, ignore_errors=True)
        if not place.is_dir():
            raise


def sweep(folder: Path) -> bool:
    """Remove what executors left that are gone, once the runs in it are over; return whether nothing is left."""
    clear = True
    for left in folder.glob(f"{SCRATCH}*-*"):
        owner = left.name.removeprefix(SCRATCH).partition("-")[0]
        if Path(f"/proc/{owner}").exists():
            continue
        run = left / "pid"
        if run.exists() and Path(f"/proc/{run.read_text()}").exists():
            clear = False
        else:
            shutil.rmtree(left, ignore_errors=True)
    return clear


def _result(task: Task, verdict: Verdict, headline: str, began: float, *, has_folder: bool = False) -> Delivered:
    seconds = time.monotonic() - began if began else 0.0
    of_plan = task.number, task.scenario, task.seed, task.title
    return Delivered(*of_plan, verdict, headline, seconds, machine(), has_folder)
