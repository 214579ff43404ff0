"""A campaign: random plans, one after another or side by side, until the time is up. A failure does not end it.

Its folder holds `campaign.json` (the request), `guidance.json` if it learns, the folder of each run, and at the end
`summary.json`. Spark mines it as any folder of runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import IO, Any

from fencepost.harness.campaign import guidance as guidance_file
from fencepost.harness.campaign.guidance import Guidance
from fencepost.harness.campaign.guided import Choice, GuidedPlans
from fencepost.harness.campaign.pairwise import Pairwise, pairwise
from fencepost.harness.campaign.planner import VERSION, generate
from fencepost.harness.engine.watchdog import latest_end
from fencepost.harness.plan import Plan, dump_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.results.records.files import write_json
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.progress import VARIABLE, new_lines

GRACE = 60.0
"""Seconds that runs have to stop and be judged after an interrupt."""
OVERDUE = 120.0
"""Seconds that a run has to be judged once its cluster is gone."""
NOT_TWICE = 1_000_000
"""Campaigns of different seeds have different plans, up to this number."""


@dataclass(frozen=True)
class Order:
    """The request for a campaign. `plans` None: as many as the time allows, or as the pairs need."""

    target: str
    backend: str
    seed: int
    minutes: float
    workers: int
    plans: int | None = None
    pairwise: bool = False
    """Not random plans: those that have every operation with every fault and every role."""
    guidance: Guidance | None = None
    """The facts of earlier runs by which each plan is chosen from the variants of its seed."""
    to_the_end: bool = False
    """Try all steps of a plan, those after a claim that is broken for certain, too."""

    def plan(self, number: int) -> Plan:
        """Return the plan of this number, from 1."""
        if self.guidance is not None:
            return self.choice(number).plan
        if self.pairwise:
            return self.pairs.plan(number, self.plan_seed(number))
        return generate(self.target, self.backend, self.plan_seed(number))

    def choice(self, number: int) -> Choice:
        """Return the plan of this number, from 1, as the guidance chooses it; those before it are chosen first."""
        for each in range(len(self._chosen) + 1, number + 1):
            self._chosen.extend(self._guided.choices([self.plan_seed(each)]))
        return self._chosen[number - 1]

    @cached_property
    def _chosen(self) -> list[Choice]:
        return []

    @cached_property
    def _guided(self) -> GuidedPlans:
        assert self.guidance is not None
        return GuidedPlans(partial(generate, self.target, self.backend), self.guidance)

    @property
    def pairs(self) -> Pairwise:
        """The pairs of operation, fault and role, and the plans that have them."""
        return pairwise(self.target, self.backend, self.seed)

    @property
    def most(self) -> int | None:
        """The number of plans at most; None: as many as the time allows."""
        if not self.pairwise:
            return self.plans
        there = len(self.pairs.plans)
        return there if self.plans is None else min(self.plans, there)

    def plan_seed(self, number: int) -> int:
        return self.seed * NOT_TWICE + number

    def to_json(self) -> dict[str, Any]:
        """Return the request as files have it. The guidance is a file of its own."""
        written = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**written, "guidance": None if self.guidance is None else guidance_file.FILE}


@dataclass
class Attempt:
    """One plan that was begun. `ended`: its process is gone; `interrupted`: because it was interrupted."""

    number: int
    plan: Plan
    file: Path
    process: subprocess.Popen[bytes]
    begun: float
    log: Path
    ended: bool = False
    interrupted: bool = False
    overdue: bool = False
    """It was not over long after its deadline, so the campaign ends it."""

    @property
    def scenario(self) -> str:
        return self.plan.scenario

    @property
    def folder(self) -> RunFolder | None:
        """Return the folder that the run made beside those of the campaign's other runs; None without one."""
        found = [RunFolder(path) for path in self.file.parents[1].glob(f"*-{plan_hash(self.plan)[:8]}*")]
        return next((each for each in found if each.plan.is_file()), None)


@dataclass
class Campaign:
    """A context in which `step` drives the campaign until it is `over`. On exit all its runs end. Times are
    monotonic."""

    order: Order
    folder: Path
    began: float = field(default_factory=time.monotonic)
    attempts: list[Attempt] = field(default_factory=list)
    given_up: bool = False
    """No further plan is begun."""
    _reading: IO[str] | None = None

    @classmethod
    def create(cls, order: Order, runs: Path) -> Campaign:
        """Make its folder, `campaign-DATE-TARGET-SEED`, with a number when that is taken."""
        name = f"campaign-{date.today().isoformat()}-{order.target.replace(':', '-')}-{order.seed}"
        runs.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            folder = runs / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            break
        (folder / ".plans").mkdir()
        campaign = cls(order, folder)
        campaign.progress.touch()
        write_json(folder / "campaign.json", {"planner": VERSION, **order.to_json()})
        if order.guidance is not None:
            order.guidance.save(campaign.guidance)
        return campaign

    @property
    def progress(self) -> Path:
        return self.folder / "progress.jsonl"

    @property
    def guidance(self) -> Path:
        """The file of the guidance that the plans were chosen by; only a campaign that learns has one."""
        return self.folder / guidance_file.FILE

    @property
    def running(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if not attempt.ended]

    @property
    def over(self) -> bool:
        return not self.running and not self._may_begin()

    def left(self, now: float) -> float:
        """Return the seconds until no further plan is begun."""
        return max(0.0, self.began + self.order.minutes * 60 - now)

    def step(self, *, begin: bool = True) -> Iterator[dict[str, Any]]:
        """Begin the runs that may begin, note those that ended, and yield the new lines of progress."""
        while begin and len(self.running) < self.order.workers and self._may_begin():
            self._begin(len(self.attempts) + 1)
        for attempt in self.running:
            self._end_if_overdue(attempt)
        gone = [attempt for attempt in self.running if attempt.process.poll() is not None]
        if self._reading is not None:
            yield from new_lines(self._reading)
        for attempt in gone:
            attempt.ended = True

    def _end_if_overdue(self, attempt: Attempt) -> None:
        """Interrupt a run that outlives even its watchdog, and kill it if it does not go: its watcher cleans up."""
        late = time.monotonic() - attempt.begun - latest_end(attempt.plan) - OVERDUE
        if late <= 0 or (attempt.overdue and late <= GRACE):
            return
        with suppress(ProcessLookupError):
            os.killpg(attempt.process.pid, signal.SIGKILL if attempt.overdue else signal.SIGINT)
        attempt.overdue = True

    def interrupt(self) -> None:
        """Interrupt all that runs as Ctrl-C would, and wait until it is gone; kill it only if it does not go."""
        for attempt in self.running:
            attempt.interrupted = True
            with suppress(ProcessLookupError):  # it ended at this very moment
                os.killpg(attempt.process.pid, signal.SIGINT)
        deadline = time.monotonic() + GRACE
        for attempt in self.running:
            try:
                attempt.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(attempt.process.pid, signal.SIGKILL)
                attempt.process.wait()

    def kill(self) -> None:
        """End all that runs at once; the watchers of the runs clean up after them."""
        for attempt in self.running:
            with suppress(ProcessLookupError):
                os.killpg(attempt.process.pid, signal.SIGKILL)

    def __enter__(self) -> Campaign:
        self._reading = self.progress.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.interrupt()
        if self._reading is not None:
            self._reading.close()

    def _may_begin(self) -> bool:
        wanted = self.order.most
        if self.given_up or self.left(time.monotonic()) <= 0:
            return False
        return wanted is None or len(self.attempts) < wanted

    def _begin(self, number: int) -> None:
        plan = self.order.plan(number)
        file = self.folder / ".plans" / f"{plan.scenario}.yaml"
        file.write_text(dump_plan(plan), encoding="utf-8")
        log = self.folder / ".plans" / f"{plan.scenario}.log"
        argv = [
            sys.executable,
            "-m",
            "fencepost.harness.campaign.worker",
            str(file),
            str(self.folder),
            self.order.backend,
            *(["--to-the-end"] if self.order.to_the_end else []),
        ]
        with log.open("wb") as output:
            process = subprocess.Popen(
                argv,
                env={**os.environ, VARIABLE: str(self.progress)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
                preexec_fn=end_on_interrupt,
            )
        self.attempts.append(Attempt(number, plan, file, process, time.monotonic(), log))
