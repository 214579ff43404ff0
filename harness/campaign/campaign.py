"""A campaign: random plans, one after another or side by side, until the time is up. A failure does not end it.

Its folder holds `campaign.json` (the request), `guidance.json` if it learns, the folder of each run, and at the end
`summary.json`. Spark mines it as any folder of runs.
"""

from __future__ import annotations

import os
import random
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
from math import inf
from pathlib import Path
from typing import IO, Any

from fencepost.harness.campaign import guidance as guidance_file
from fencepost.harness.campaign.guidance import Guidance
from fencepost.harness.campaign.guided import Choice, GuidedPlans
from fencepost.harness.campaign.pairwise import Pairwise, pairwise
from fencepost.harness.campaign.planner import VERSION, generate
from fencepost.harness.engine import watchdog
from fencepost.harness.engine.watchdog import latest_end
from fencepost.harness.plan import Plan, dump_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.results.records.files import write_json
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.progress import VARIABLE, Phase, new_lines

FRESH = 0.2
"""The fraction of plans with a fresh cluster, where several may share one."""
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
    plans_per_cluster: int = 1
    """Plans that run on one cluster at most, one after the other."""
    security: str | None = None
    """The security of all plans; None: plaintext."""

    def plan(self, number: int) -> Plan:
        """Return the plan of this number, from 1. One that runs on the cluster of others needs those first."""
        if self.guidance is not None:
            return self.choice(number).plan
        if self.pairwise:
            return self.pairs.plan(number, self.plan_seed(number))
        if number not in self._made:
            if not self.place(number):
                self._made.clear()  # no later plan runs on the cluster of those
            earlier = [self.plan(before) for before in range(number - self.place(number), number)]
            self._made[number] = generate(
                self.target, self.backend, self.plan_seed(number), earlier=earlier, security=self.security
            )
        return self._made[number]

    @cached_property
    def _made(self) -> dict[int, Plan]:
        return {}

    def place(self, number: int) -> int:
        """Return how many plans run on the cluster of this one before it. One plan in five has a fresh cluster."""
        fresh = number == 1 or random.Random(f"cluster {self.plan_seed(number)}").random() < FRESH
        return 0 if fresh or self.plans_per_cluster == 1 else (self.place(number - 1) + 1) % self.plans_per_cluster

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
        return GuidedPlans(partial(generate, self.target, self.backend, security=self.security), self.guidance)

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
    """One plan that was given to a process. `ended`: it is over; `interrupted`: its process was interrupted.

    A campaign has thousands, so each has of its plan what is asked for later.
    """

    number: int
    scenario: str
    seed: int
    title: str
    hash: str
    latest_end: float
    """Seconds from the begin of the run until it is over, at the latest."""
    file: Path
    process: subprocess.Popen[bytes]
    begun: float
    """When its process began it, or ended the plan before it (monotonic)."""
    log: Path
    ended: bool = False
    interrupted: bool = False
    follows: bool = False
    """The process had another plan before it."""
    overdue: bool = False
    """It was not over long after its deadline, so the campaign ends it."""

    @property
    def folder(self) -> RunFolder | None:
        """Return the folder that the run made beside those of the campaign's other runs; None without one."""
        found = [RunFolder(path) for path in self.file.parents[1].glob(f"*-{self.hash[:8]}*")]
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
    _next: int = 1
    """The number of the plan that is begun next."""

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
        while begin and len(self._at_work) < self.order.workers and self._may_begin():
            self._begin(self._next)
        for attempt in self._at_work:
            self._end_if_overdue(attempt)
        gone = [attempt.process for attempt in self._at_work if attempt.process.poll() is not None]
        if self._reading is not None:
            for line in new_lines(self._reading):
                yield line
                if line.get("phase") == Phase.DONE:
                    self._go_on(line["scenario"])
        for process in gone:
            self._take_back(process)

    @property
    def _at_work(self) -> list[Attempt]:
        """The plan that each process is at."""
        return list({attempt.process.pid: attempt for attempt in reversed(self.running)}.values())

    def _go_on(self, scenario: str) -> None:
        """Note the end of a plan whose process goes on with the next one."""
        for done in (each for each in self.running if each.scenario == scenario):
            following = [each for each in self.running if each.process is done.process and each is not done]
            if following:
                done.ended = True
                following[0].begun = time.monotonic()

    def _take_back(self, process: subprocess.Popen[bytes]) -> None:
        """Note the end of a process. Plans that it had not begun by then are not of this campaign."""
        left = [attempt for attempt in self.running if attempt.process is process]
        for attempt in left:
            attempt.ended = True
        for attempt in left[1 if process.returncode else 0 :]:  # a process that fails does so at the first of them
            if attempt.follows and attempt.folder is None:
                self.attempts.remove(attempt)

    def _end_if_overdue(self, attempt: Attempt) -> None:
        """Interrupt a run that outlives even its watchdog, and kill it if it does not go: its watcher cleans up."""
        late = time.monotonic() - attempt.begun - attempt.latest_end - watchdog.OVERDUE
        if late <= 0 or (attempt.overdue and late <= watchdog.GRACE):
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
        deadline = time.monotonic() + watchdog.GRACE
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
        return wanted is None or self._next <= wanted

    def _begin(self, number: int) -> None:
        """Give a process this plan, and those that run on its cluster."""
        numbers = [number]
        while numbers[-1] < (self.order.most or inf) and self.order.place(numbers[-1] + 1):
            numbers.append(numbers[-1] + 1)
        self._next = numbers[-1] + 1
        plans = {each: self.order.plan(each) for each in numbers}
        files = {each: self.folder / ".plans" / f"{plan.scenario}.yaml" for each, plan in plans.items()}
        for each, plan in plans.items():
            files[each].write_text(dump_plan(plan), encoding="utf-8")
        log = files[number].with_suffix(".log")
        argv = [
            sys.executable,
            "-m",
            "fencepost.harness.campaign.worker",
            str(self.folder),
            self.order.backend,
            *map(str, files.values()),
            f"--until={self.began + self.order.minutes * 60}",
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
        now = time.monotonic()
        for each, plan in plans.items():
            of_plan = plan.scenario, plan.seed, plan.title, plan_hash(plan), latest_end(plan)
            self.attempts.append(Attempt(each, *of_plan, files[each], process, now, log, follows=each != number))
