"""The second queue of a fleet: plans that found a violation are replayed and shrunk, with many runs at once.

Violations with the same verdict and rules are one cause; so are those that the replays of one plan show. The shortest
plan stands for a cause. It is replayed until the interval of its rate is narrow, then shrunk, and its run is bundled.
Each run is a task with a name that follows from its plan, so a driver that was killed finds those that were delivered.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from threading import Lock

from fencepost.harness.engine.watchdog import latest_end
from fencepost.harness.errors import HarnessError
from fencepost.harness.fleet.causes import Cause, Sightings, saved_cause
from fencepost.harness.fleet.task import Delivered, Task
from fencepost.harness.plan import Plan, dump_plan, load_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.reproduction.bundle.pack import bundle
from fencepost.harness.reproduction.replaying import wilson
from fencepost.harness.reproduction.shrink.parts import named
from fencepost.harness.reproduction.shrink.search import shrink
from fencepost.harness.reproduction.shrink.side_by_side import TrialsSideBySide
from fencepost.harness.reproduction.shrink.trials import Count, TrialOutcome
from fencepost.harness.reproduction.signature import FailureSignature
from fencepost.results.records.folder import FolderError, RunFolder
from fencepost.results.records.survey import CAUSES_FOLDER
from fencepost.results.records.verdict import Verdict

TRIALS = ".trials"
WIDTH = 0.4
"""Width of the 95 % interval at which a rate is known: after 6 runs that all fail, after 21 of which half do."""
WITHOUT_RESULT = 5
"""Replays without a result after which the rate stays unknown."""
ALWAYS, OF = 0.8, 3
"""The rate of candidates, and their runs, where the plan failed in each replay: as `fencepost shrink` has them."""
ONCE_MORE = 2
"""Runs of a candidate that have to fail where the plan fails only at times."""
MOST_RUNS = 20
"""Runs of a candidate at most."""

Perform = Callable[[Task], Delivered]
"""Has one plan run, and waits for its result. It is called by several threads."""


@dataclass
class SecondQueue:
    """The red plans of a campaign's folder, for `slots` runs at once, until `deadline` (monotonic seconds)."""

    folder: Path
    backend: str
    defect: str
    to_the_end: bool
    perform: Perform
    slots: int
    deadline: float
    sightings: Callable[[Iterable[str]], Sightings | None]
    """When plans, by their scenarios, failed as they did, in this store."""
    likely: Callable[[FailureSignature], tuple[str, ...]]
    """Known bugs of the target that may be behind it."""
    say: Callable[[str], None] = print
    _shown: dict[str, set[FailureSignature]] = field(default_factory=lambda: defaultdict(set))
    """The violations that the replays of a plan showed."""

    def causes(self, red: Iterable[str]) -> list[Cause]:
        """Return one entry for each distinct cause of these scenarios, which found violations."""
        groups = self._groups(red)
        if not groups:
            return []
        (self.folder / CAUSES_FOLDER).mkdir(exist_ok=True)
        share = max(1, self.slots // len(groups))
        with ThreadPoolExecutor(min(len(groups), self.slots)) as pool:
            rates = dict(
                zip(groups, pool.map(lambda each: self._rate(each, groups[each][0], share), groups), strict=True)
            )
            left = self._merged(groups)
            share = max(1, self.slots // len(left))
            found = list(pool.map(lambda each: self._cause(each, *left[each], rates[each], share), left))
        shutil.rmtree(self.folder / TRIALS, ignore_errors=True)
        return found

    def _groups(self, red: Iterable[str]) -> dict[str, tuple[FailureSignature, tuple[str, ...]]]:
        """Return by the shortest plan of each signature the signature and all its plans."""
        of: dict[FailureSignature, list[str]] = defaultdict(list)
        for scenario in red:
            if (verdict := RunFolder(self.folder / scenario).try_verdict()) is not None:
                of[FailureSignature.of(verdict)].append(scenario)
        steps = {each: len(self._plan(each).steps) for each in (each for found in of.values() for each in found)}
        shortest = {signature: min(found, key=lambda each: (steps[each], each)) for signature, found in of.items()}
        return {shortest[signature]: (signature, tuple(found)) for signature, found in of.items()}

    def _merged(
        self, groups: dict[str, tuple[FailureSignature, tuple[str, ...]]]
    ) -> dict[str, tuple[FailureSignature, tuple[str, ...]]]:
        """Return the groups without those whose signature the replays of an earlier one showed: it has their plans."""
        left: dict[str, tuple[FailureSignature, tuple[str, ...]]] = {}
        for name, (signature, plans) in groups.items():
            same = next((each for each in left if signature in self._shown[each]), None)
            if same is None:
                left[name] = signature, plans
            else:
                left[same] = left[same][0], (*left[same][1], *plans)
        return left

    def _plan(self, scenario: str) -> Plan:
        return named(load_plan(RunFolder(self.folder / scenario).plan))

    def _rate(self, name: str, signature: FailureSignature, slots: int) -> Count:
        """Replay a plan until the interval of its rate is narrow, the time is up, or its runs have no result."""
        if (known := saved_cause(self.folder / CAUSES_FOLDER, name)) is not None:
            return Count(known.failed, known.runs)
        self.say(f"{name}: replaying {signature}")
        trials = _Trials(self, name, signature)
        plan, failed, done, nothing = self._plan(name), 0, 0, 0
        with ThreadPoolExecutor(slots) as pool:
            while (more := least_to_know(failed, done)) and nothing < WITHOUT_RESULT and not self._late:
                for outcome in pool.map(trials.run, [plan] * min(slots, more)):
                    nothing += outcome is TrialOutcome.NOTHING
                    done += outcome is not TrialOutcome.NOTHING
                    failed += outcome is TrialOutcome.FAILED
        return Count(failed, done)

    @property
    def _late(self) -> bool:
        return time.monotonic() >= self.deadline

    def _cause(self, name: str, signature: FailureSignature, plans: tuple[str, ...], rate: Count, slots: int) -> Cause:
        """Shrink the plan of a cause, bundle its run, and write its entry. One that was written before is read."""
        place = self.folder / CAUSES_FOLDER
        if (known := saved_cause(place, name)) is not None:
            return known
        low, high = wilson(rate.failed, rate.runs)
        self.say(f"{name}: failed in {rate.failed} of {rate.runs} replays ({low:.0%} to {high:.0%})")
        cause = Cause(
            name, signature, plans, rate.failed, rate.runs, self.sightings(plans), known_bugs=self.likely(signature)
        )
        trials = _Trials(self, name, signature)
        cause = self._shrunk(cause, trials, slots)
        run = trials.failing(load_plan(Path(cause.smallest))) if cause.smallest else None
        try:
            packed = bundle(run or RunFolder(self.folder / name), place / f"{name}.tar.gz")
            cause = cause.with_bundle(str(packed))
        except (HarnessError, FolderError) as error:
            self.say(f"{name}: not bundled: {error}")
        cause.save(place)
        return cause

    def _shrunk(self, cause: Cause, trials: _Trials, slots: int) -> Cause:
        times, rate = wanted_of_candidates(cause.failed, cause.runs)
        plan = self._plan(cause.name)
        with TrialsSideBySide(trials.run, times, rate, self.deadline, slots=slots) as side_by_side:
            if cause.failed < side_by_side.needed:
                return cause
            side_by_side.counts[plan_hash(plan)] = Count(cause.failed, cause.runs)
            found = shrink(plan, side_by_side)
        assert found is not None  # it failed often enough
        file = self.folder / CAUSES_FOLDER / f"{cause.name}.yaml"
        file.write_text(dump_plan(found.plan), encoding="utf-8")
        self.say(f"{cause.name}: {len(plan.steps)} steps shrunk to {len(found.plan.steps)} in {found.runs} runs")
        return cause.with_smallest(str(file), found)


class _Trials:
    """The runs of one cause, each in a folder of its own, named by the plan and the number of its run."""

    def __init__(self, queue: SecondQueue, name: str, wanted: FailureSignature) -> None:
        self._queue = queue
        self._name = name
        self._wanted = wanted
        self._runs = Counter[str]()
        self._lock = Lock()

    @property
    def _folder(self) -> Path:
        return self._queue.folder / TRIALS / self._name

    def run(self, plan: Plan) -> TrialOutcome:
        digest = plan_hash(plan)[:16]
        with self._lock:
            self._runs[digest] += 1
            name = f"{digest}-{self._runs[digest]}"
        self._folder.mkdir(parents=True, exist_ok=True)
        of_plan = plan.seed, plan.title, latest_end(plan), dump_plan(plan)
        how = self._queue.backend, self._queue.to_the_end, str(self._folder), self._queue.defect
        self._queue.perform(Task(0, name, *of_plan, *how, brief=True))
        verdict = RunFolder(self._folder / name).try_verdict()
        if verdict is None or verdict.verdict is Verdict.INFRASTRUCTURE:
            return TrialOutcome.NOTHING
        signature = FailureSignature.of(verdict)
        if not self._wanted.shows_in(signature):
            return TrialOutcome.OTHER
        self._queue._shown[self._name].add(signature)
        return TrialOutcome.FAILED

    def failing(self, plan: Plan) -> RunFolder | None:
        """Return a run of the plan that failed as before."""
        runs = map(RunFolder, sorted(self._folder.glob(f"{plan_hash(plan)[:16]}-*")))
        return next((each for each in runs if each.journal.is_file()), None)


def least_to_know(failed: int, runs: int) -> int:
    """Return after how many further runs, at the earliest, the interval of the rate is narrow; 0 if it is."""

    def narrow(failed: int, runs: int) -> bool:
        low, high = wilson(failed, runs)
        return high - low <= WIDTH

    return next(
        more for more in range(MOST_RUNS + 5) if narrow(failed, runs + more) or narrow(failed + more, runs + more)
    )


def wanted_of_candidates(failed: int, runs: int) -> tuple[int, float]:
    """Return the runs of a candidate at most, and the fraction of them that has to fail.

    A plan that fails at times would fail in three of these runs on average; two are enough.
    """
    if failed == runs:
        return OF, ALWAYS
    times = min(MOST_RUNS, ceil((ONCE_MORE + 1) * runs / max(failed, 1)))
    return times, ONCE_MORE / times
