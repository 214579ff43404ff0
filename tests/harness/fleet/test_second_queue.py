"""Violations have one entry for each distinct cause, with rate and smallest plan; a killed driver loses none."""

from __future__ import annotations

import datetime as dt
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock

import pytest

from fencepost.harness.fleet.causes import Sightings, sightings
from fencepost.harness.fleet.second_queue import SecondQueue, least_to_know, wanted_of_candidates
from fencepost.harness.fleet.task import Delivered, Task
from fencepost.harness.plan.file import dump_plan, parse_plan
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.results.records.survey import CAUSES_FOLDER
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict
from fencepost.results.store.store import Store
from tests.harness.fleet.test_rounds import OF_A_RUN
from tests.harness.publishing.conftest import CopyRun
from tests.harness.reproduction.test_shrink import PLAN

SEEN = Sightings("2026-11-01", "1", "2026-11-30", "2", 3)
Fails = Callable[[Plan, int], Iterable[str]]
"""Returns the rules that a run breaks, by its plan and its place among all runs, from 0."""


class Machine:
    """Runs tasks: each plan breaks the rules that `fails` says."""

    def __init__(self, copy_run: CopyRun, fails: Fails) -> None:
        self._copy_run, self._fails = copy_run, fails
        self._lock = Lock()
        self.runs = 0

    def __call__(self, task: Task) -> Delivered:
        with self._lock:
            if not (Path(task.folder) / task.scenario).is_dir():
                plan = parse_plan(task.plan, task.scenario)
                self.judged(Path(task.folder) / task.scenario, plan, self._fails(plan, self.runs))
                self.runs += 1
        return Delivered(0, task.scenario, task.seed, "", Verdict.PASS, "", 0.0, "here", True)

    def judged(self, path: Path, plan: Plan, broken: Iterable[str]) -> None:
        folder = self._copy_run(path)
        folder.plan.write_text(dump_plan(plan))
        judged = RunVerdict.load(folder.verdict)
        found = [Finding(Verdict.VIOLATION, "a check", "", "", each) for each in broken]
        verdict = Verdict.VIOLATION if found else Verdict.PASS
        replace(judged, verdict=verdict, findings=tuple(found)).save(folder.verdict)


@pytest.fixture
def queue(tmp_path: Path) -> Callable[[Machine], SecondQueue]:
    folder = tmp_path / "campaign"
    folder.mkdir()
    made = partial(SecondQueue, folder, "process", "", False, slots=2, deadline=time.monotonic() + 600)
    return lambda machine: made(machine, sightings=lambda plans: SEEN, likely=lambda seen: (), say=lambda said: None)


def plans() -> list[Plan]:
    return [parse_plan(PLAN, "plan.yaml").model_copy(update={"scenario": f"random-{each}"}) for each in range(3)]


def kinds(plan: Plan) -> set[str]:
    return {step.fault for step in plan.steps if isinstance(step, InjectStep)}


def of_campaign(machine: Machine, folder: Path, broken: dict[str, Plan]) -> list[str]:
    """Make the run folders of plans that broke a rule; return their scenarios."""
    for rule, plan in broken.items():
        machine.judged(folder / plan.scenario, plan, [rule])
    return [plan.scenario for plan in broken.values()]


def test_a_cause_has_its_rate_and_a_plan_with_nothing_but_what_it_needs(
    queue: Callable[[Machine], SecondQueue], copy_run: CopyRun
) -> None:
    plan, needed = plans()[0], "kill"
    machine = Machine(copy_run, lambda tried, _: ["ACK-01"] if needed in kinds(tried) else [])
    second = queue(machine)
    [cause] = second.causes(of_campaign(machine, second.folder, {"ACK-01": plan}))
    assert (cause.failed, cause.runs) == (6, 6)
    assert cause.faults == (needed,)
    assert cause.complete and cause.smallest is not None
    assert len(parse_plan(Path(cause.smallest).read_text(), "smallest").steps) < len(plan.steps)


def one_slot(queue: SecondQueue) -> SecondQueue:
    """Return the queue with one run at a time: of several, it is left to chance which begin before a result comes."""
    return replace(queue, slots=1)


def test_a_driver_that_was_killed_runs_nothing_again(
    queue: Callable[[Machine], SecondQueue], copy_run: CopyRun
) -> None:
    machine = Machine(copy_run, lambda tried, _: ["ACK-01"])
    second = one_slot(queue(machine))
    red = of_campaign(machine, second.folder, {"ACK-01": plans()[0]})
    killed = partial(shutil.rmtree, second.folder / CAUSES_FOLDER)
    trials = second.folder / ".trials"
    copied = second.folder.parent / "trials"

    def keep(said: str) -> None:
        if "shrunk" in said:
            shutil.copytree(trials, copied)

    second.say = keep
    [cause] = second.causes(red)
    killed()
    copied.rename(trials)
    runs = machine.runs
    assert one_slot(queue(machine)).causes(red) == [cause]
    assert machine.runs == runs, "what was delivered is read"
    assert queue(machine).causes(red) == [cause]
    assert machine.runs == runs, "a cause that was written is read"


def test_a_cause_was_first_seen_by_the_earliest_run_that_failed_alike(tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    for day, release, signature, campaign in (
        (3, "2", "same", "tonight"),
        (1, "1", "same", "before"),
        (2, "1", "other", "before"),
    ):
        at = dt.datetime(2026, 11, day, tzinfo=dt.UTC)
        run = {"run_id": f"{day}", "date": at.date(), "started_at": at, "release": release, "verdict": "violation"}
        store.add({"runs": [OF_A_RUN | run | {"signature": signature, "campaign": campaign, "scenario": "random-1"}]})
    seen = sightings(store, "quorum", "", "tonight", ["random-1"])
    assert seen == Sightings("2026-11-01", "1", "2026-11-03", "2", 2)
    assert sightings(store, "quorum", "", "tonight", ["random-2"]) is None


def test_what_the_replays_of_a_plan_show_is_no_cause_of_its_own(
    queue: Callable[[Machine], SecondQueue], copy_run: CopyRun
) -> None:
    one, other, third = plans()
    machine = Machine(copy_run, lambda tried, _: ["ACK-01", "HW-01"])
    second = queue(machine)
    red = of_campaign(machine, second.folder, {"ACK-01": one, "SEG-01": third})
    machine.judged(second.folder / other.scenario, other, ["ACK-01", "HW-01"])
    causes = {each.signature.broken: each for each in second.causes([*red, other.scenario])}
    assert len(causes) == 2
    joined = next(each for broken, each in causes.items() if "ACK-01" in broken)
    assert set(joined.plans) == {one.scenario, other.scenario}
    alone = causes[frozenset({"SEG-01"})]
    assert (alone.failed, alone.runs, alone.smallest) == (0, 6, None), "it never failed again, and is not shrunk"


def test_a_plan_that_fails_at_times_is_shrunk_as_well(
    queue: Callable[[Machine], SecondQueue], copy_run: CopyRun
) -> None:
    machine = Machine(copy_run, lambda tried, number: ["ACK-01"] if number % 3 == 0 else [])
    second = queue(machine)
    [cause] = second.causes(of_campaign(machine, second.folder, {"ACK-01": plans()[0]}))
    low, high = cause.interval
    assert low < 1 / 3 < high and high - low <= 0.4
    assert cause.smallest is not None


@pytest.mark.parametrize(
    ("failed", "runs", "more"), [(0, 0, 6), (6, 6, 0), (0, 6, 0), (1, 2, 8), (10, 20, 1), (10, 21, 0)]
)
def test_a_rate_is_known_after_few_runs_of_what_is_certain(failed: int, runs: int, more: int) -> None:
    assert least_to_know(failed, runs) == more


def test_candidates_of_a_plan_that_fails_at_times_need_not_always_fail() -> None:
    assert wanted_of_candidates(6, 6) == (3, 0.8)
    assert wanted_of_candidates(10, 20) == (6, 2 / 6)
    assert wanted_of_candidates(1, 18)[0] == 20
