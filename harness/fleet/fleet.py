"""The driver of a fleet: generates a round of plans, has Spark run them, publishes them, learns for the next one."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.campaign import Order
from fencepost.harness.campaign.guidance import Guidance
from fencepost.harness.campaign.learning import learn
from fencepost.harness.checkers.starvation import SHARE
from fencepost.harness.engine.watchdog import GRACE, latest_end
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.fleet import executors
from fencepost.harness.fleet.causes import Cause, sightings
from fencepost.harness.fleet.rounds import Round, saved_rounds
from fencepost.harness.fleet.second_queue import SecondQueue
from fencepost.harness.fleet.task import ARRIVING, Delivered, Task, perform, sweep
from fencepost.harness.plan import Plan, dump_plan, load_plan
from fencepost.harness.processes.waiting import within
from fencepost.harness.publishing.folders import find
from fencepost.harness.publishing.publish import Publication, publish_runs
from fencepost.harness.targets.registry import load_file
from fencepost.results.records.files import read_json, write_json
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import Verdict
from fencepost.results.store.store import Store

if TYPE_CHECKING:
    from pyspark import SparkContext

PLANS, AGAIN, FIRST = ".plans", ".again", "regressions.json"
POLL = 0.2
WAITS = 60.0
"""Seconds without a running task after which a round says that it waits for executors."""
SETTINGS = {
    "spark.executor.memory": "512m",  # its JVM only passes plans on
    "spark.speculation": "false",  # a plan that takes long is not run a second time
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    **executors.SETTINGS,
}
LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


@dataclass
class Fleet:
    """A campaign in rounds, in the folder of the campaign, which all machines reach. `run` has one run.

    A plan whose verdict is infrastructure is run once more, in the next round; the folder of its first run is kept
    aside, and is not published. Of plans that pass only the rows in the store stay.
    """

    order: Order
    folder: Path
    store: Store
    per_round: int
    defect: str = ""
    """The mutant that the nodes run with."""
    until: int | None = None
    """No round begins once the store has so many kinds of violations that it had not before the first."""
    began: float = field(default_factory=time.monotonic)
    outcomes: list[Delivered] = field(default_factory=list)
    """Those that count: one for each plan that was judged."""
    round: int = 0
    unfit: dict[str, str] = field(default_factory=dict)
    """The executors that cannot run plans, with the reasons."""
    starved: dict[str, str] = field(default_factory=dict)
    """The executors that get no further plan, since their machines starve, with the reasons."""
    lacks: dict[Capability, str] = field(default_factory=dict)
    """The capabilities that no plan can need, since an executor lacks them, with the reasons."""
    _machines: frozenset[str] = frozenset()
    """The executors that were asked before this round."""
    _next: int = 1
    _again: frozenset[int] = frozenset()
    _first: Guidance | None = None
    """The knowledge before the first round."""
    _known: Guidance | None = None
    """The knowledge since the last one."""

    @property
    def over(self) -> bool:
        """True if no further round begins: the time is up, all plans were run, or enough was found."""
        late = time.monotonic() - self.began >= self.order.minutes * 60
        enough = self.until is not None and len(self.new_signatures) >= self.until
        return late or enough or (not self._again and self._next > (self.order.plans or sys.maxsize))

    @property
    def left_out(self) -> dict[str, str]:
        """The executors that get no plan, with the reasons."""
        return {**self.starved, **self.unfit}

    @property
    def known(self) -> Guidance:
        """The knowledge of the store about the target, with the last round."""
        if self._known is None:
            target, _, release = self.order.target.partition(":")
            self._known = learn(self.store, target, release, self.defect or None)
        return self._known

    @property
    def new_signatures(self) -> frozenset[str]:
        """The kinds of violations that the store had not before the first round."""
        return frozenset() if self._first is None else _signatures(self.known) - _signatures(self._first)

    def take_up(self) -> tuple[Round, Guidance] | None:
        """Read the rounds of a driver that was killed; return the one that was not over."""
        for found, guidance, outcomes in saved_rounds(self.folder):
            self._first = self._first or guidance
            self.round, self._next = found.number, max((self._next, *(each + 1 for each in found.numbers)))
            if outcomes is None:
                return found, guidance
            self._count([_read(each) for each in outcomes], found)
        return None

    def ask(self, spark: SparkContext, cores_per_plan: int) -> None:
        """Have each executor try what plans need. Raise InfrastructureError if none can run plans."""
        answers = executors.ask(spark, cores_per_plan, self.order.target, self.order.backend)
        self._machines = frozenset(each.machine for each in answers)
        self.unfit = {each.machine: each.unfit for each in answers if each.unfit is not None}
        fit = [each for each in answers if each.machine not in self.left_out]
        if not fit:
            reasons = "; ".join(f"{each}: {self.left_out[each]}" for each in sorted(self._machines))
            raise InfrastructureError(f"no executor can run a plan: {reasons}")
        self.lacks = executors.missing(fit)

    def next_round(self) -> tuple[Round, Guidance]:
        """Mine the store, and return the next round. Its files are written before a plan of it runs."""
        guidance = self.known
        self._first = self._first or guidance
        self.round += 1
        end = min(self._next + self.per_round, (self.order.plans or sys.maxsize) + 1)
        made = Round(self.folder, self.round, tuple(range(self._next, end)), self._again, self.lacks)
        made.save(guidance)
        self._next = end
        return made, guidance

    def tasks(self, of: Round, guidance: Guidance) -> list[Task]:
        """Return the plans of a round, for executors. Those of another round are as they were there."""
        files = self.folder / PLANS
        plans = dict(of.plans(self.order, guidance))
        for each in of.again:
            plans[each] = load_plan(files / f"random-{self.order.plan_seed(each)}.yaml")
        return [self._task(number, plan) for number, plan in plans.items()]

    def _task(self, number: int, plan: Plan) -> Task:
        text = dump_plan(plan)
        (self.folder / PLANS / f"{plan.scenario}.yaml").write_text(text, encoding="utf-8")
        of_plan = number, plan.scenario, plan.seed, plan.title, latest_end(plan), text
        how = self.order.backend, self.order.to_the_end, str(self.folder), self.defect
        return Task(*of_plan, *how, left_out=frozenset(self.left_out))

    def run_first(self, spark: SparkContext, plans: Sequence[Plan]) -> Sequence[Delivered]:
        """Have plans run before the first round, and return their results: those of a driver that was killed, too.

        Their numbers count down from 0.
        """
        file = self.folder / FIRST
        if file.is_file():
            outcomes = [_read(each) for each in read_json(file)["outcomes"]]
        elif plans:
            tasks = [self._task(-place, plan) for place, plan in enumerate(plans)]
            try:
                outcomes = spark.parallelize(tasks, len(tasks)).map(perform).collect()
            except BaseException:
                spark.cancelAllJobs()
                raise
            kept_aside = {each.folder.name for each in self.publish().aside}
            write_json(file, {"outcomes": [_written(each) for each in outcomes]})
            self._remove_passed(outcomes, kept_aside)
        else:
            return []
        self.outcomes += outcomes
        return outcomes

    def run(
        self, spark: SparkContext, of: Round, guidance: Guidance, say: Callable[[str], None] = print
    ) -> Iterator[tuple[Task, Verdict]]:
        """Have a round run, and yield each plan with its verdict once its run folder arrives, or the round is over.

        `say` gets a message if no executor takes a plan.
        """
        tasks = self.tasks(of, guidance)
        awaited = {each.scenario: each for each in tasks}
        with ThreadPoolExecutor(1) as waits:
            done = waits.submit(lambda: spark.parallelize(tasks, len(tasks)).map(perform).collect())
            try:
                said, late = False, time.monotonic() + WAITS
                while not wait([done], POLL).done:
                    if not said and time.monotonic() >= late and not _tasks_at_work(spark):
                        said = True
                        say("no executor takes a plan: are workers registered, with enough cores and 512 MB of memory?")
                    for scenario in list(awaited):
                        if (verdict := RunFolder(self.folder / scenario).try_verdict()) is not None:
                            yield awaited.pop(scenario), verdict.verdict
            except BaseException:
                spark.cancelAllJobs()
                raise
        outcomes = done.result()
        yield from ((awaited[each.scenario], each.verdict) for each in outcomes if each.scenario in awaited)
        self._close(of, guidance, outcomes)

    def _close(self, of: Round, guidance: Guidance, outcomes: Sequence[Delivered]) -> None:
        """Keep aside what is to be run again, publish the rest, and write that the round is over."""
        self._count(outcomes, of)
        for each in outcomes:
            if each.number in self._again and each.has_folder:
                (self.folder / AGAIN).mkdir(exist_ok=True)
                (self.folder / each.scenario).rename(self.folder / AGAIN / each.scenario)
        self._known = None
        kept_aside = {each.folder.name for each in self.publish().aside}
        of.save(guidance, [_written(each) for each in outcomes])
        # Only now: a round that is not over is run again, but for the plans whose folders are there.
        self._remove_passed(outcomes, kept_aside)

    def _remove_passed(self, outcomes: Sequence[Delivered], kept_aside: Collection[str]) -> None:
        for each in outcomes:
            if each.verdict is Verdict.PASS and each.scenario not in kept_aside:
                shutil.rmtree(self.folder / each.scenario, ignore_errors=True)
        shutil.rmtree(self.folder / ARRIVING, ignore_errors=True)

    def starving(self, outcomes: Sequence[Delivered]) -> dict[str, float]:
        """Return the machines on which half of these plans or more starved, each with the median of their shares.

        The share of a plan is that of the time for which its worst node waited for a processor.
        """
        import pyarrow.compute as pc

        from fencepost.results.store.tables import RUNS

        of_campaign = pc.field("campaign") == self.folder.name
        rows = self.store.read(RUNS, ("scenario", "starvation"), of_campaign).to_pylist()
        shares = {row["scenario"]: row["starvation"] for row in rows if row["starvation"] is not None}
        of: dict[str, list[float]] = defaultdict(list)
        for each in outcomes:
            if each.scenario in shares:
                of[each.machine].append(shares[each.scenario])
        return {machine: median(found) for machine, found in sorted(of.items()) if median(found) >= SHARE}

    def leave_out_starving(self, outcomes: Sequence[Delivered]) -> dict[str, float]:
        """Give no further plan to the machines that starved in a round, and return them as `starving` does.

        One that would be the last is not left out.
        """
        found = self.starving(outcomes)
        if self._machines - self.left_out.keys() - found.keys():
            self.starved |= {
                machine: f"nodes waited for a processor for {share:.0%} of their time"
                for machine, share in found.items()
            }
        return found

    def publish(self) -> Publication:
        """Add the runs to the store that it does not have."""
        return publish_runs(find([self.folder]), self.store)

    def causes(
        self, spark: SparkContext, cores_per_plan: int, minutes: float, say: Callable[[str], None]
    ) -> list[Cause]:
        """Have the plans that found a violation replayed and shrunk, and return one entry for each distinct cause."""
        target, defect = self.order.target.partition(":")[0], self.defect
        listed = load_file(target).known_bugs

        def have_run(task: Task) -> Delivered:
            here = replace(task, left_out=frozenset(self.left_out))
            delivered: Delivered = spark.parallelize([here], 1).map(perform).collect()[0]
            return delivered

        queue = SecondQueue(
            self.folder,
            self.order.backend,
            defect,
            self.order.to_the_end,
            have_run,
            slots=max(1, spark.defaultParallelism // cores_per_plan),
            deadline=time.monotonic() + minutes * 60,
            sightings=lambda plans: sightings(self.store, target, defect, self.folder.name, plans),
            likely=lambda seen: tuple(f"{bug.id}: {bug.message}" for bug in listed if bug.requirement in seen.broken),
            say=say,
        )
        try:
            return queue.causes(each.scenario for each in self.outcomes if each.verdict is Verdict.VIOLATION)
        except BaseException:
            spark.cancelAllJobs()
            raise

    def _count(self, outcomes: Sequence[Delivered], of: Round) -> None:
        self._again = frozenset(
            each.number for each in outcomes if each.verdict is Verdict.INFRASTRUCTURE and each.number not in of.again
        )
        self.outcomes += [each for each in outcomes if each.number not in self._again]


def _signatures(of: Guidance) -> frozenset[str]:
    return frozenset(each.signature for each in of.failures)


def _tasks_at_work(spark: SparkContext) -> int:
    tracker = spark.statusTracker()
    stages = (tracker.getStageInfo(each) for each in tracker.getActiveStageIds())
    return sum(each.numActiveTasks for each in stages if each is not None)


def _written(outcome: Delivered) -> dict[str, Any]:
    return {**asdict(outcome), "verdict": outcome.verdict.value}


def _read(outcome: dict[str, Any]) -> Delivered:
    return Delivered(**{**outcome, "verdict": Verdict(outcome["verdict"])})


@contextmanager
def spark_context(master: str, cores_per_plan: int) -> Iterator[SparkContext]:
    """Yield the connection to a Spark cluster. Its tasks run with this Python, or that of $PYSPARK_PYTHON."""
    from pyspark import SparkConf, SparkContext

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    here = master.startswith("local") or "//127." in master
    settings = {**SETTINGS, **(LOOPBACK if here else {}), "spark.task.cpus": str(cores_per_plan)}
    if here:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    conf = SparkConf().setMaster(master).setAppName("fencepost campaign").setAll(list(settings.items()))
    context = SparkContext(conf=conf)
    try:
        yield context
    finally:
        context.stop()
        within(GRACE, lambda: sweep(Path(tempfile.gettempdir())))  # of executors on this machine
