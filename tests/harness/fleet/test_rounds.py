"""The files of a round decide its plans, and a plan that was judged is never run again."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.faults.capabilities import Capability
from fencepost.faults.registry import FAULTS
from fencepost.harness.campaign.campaign import Campaign, Order
from fencepost.harness.campaign.guidance import Guidance
from fencepost.harness.fleet.executors import NoPlanHere, machine
from fencepost.harness.fleet.fleet import AGAIN, Fleet
from fencepost.harness.fleet.rounds import Round, saved_rounds
from fencepost.harness.fleet.task import SCRATCH, Delivered, _deliver, perform, sweep
from fencepost.harness.plan import Plan
from fencepost.harness.plan.injects import InjectStep
from fencepost.results.records.survey import CAUSES_FOLDER
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS
from tests.harness.publishing.conftest import CopyRun

ORDER = Order("quorum:1", "process", 7, 60, 0, plans=5)
NOTHING = Guidance("quorum", "1", 0, {})


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    folder = Campaign.create(ORDER, tmp_path / "runs").folder
    return Fleet(ORDER, folder, Store.create(str(tmp_path / "store")), 3)


NOW = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
OF_A_RUN = {
    "date": NOW.date(),
    "test": "random plans",
    "target": "quorum",
    "backend": "process",
    "verdict": "pass",
    "started_at": NOW,
    "source": "fencepost",
    "run": "a run",
    "attempt": 1,
    "duration_s": 1.0,
    "published_at": NOW,
}
Judged = Callable[[Path, Verdict], Path]
Deliver = Callable[[int, Verdict], Delivered]


@pytest.fixture
def judged(copy_run: CopyRun) -> Judged:
    """Return a function that makes a run folder with this verdict."""

    def make(path: Path, verdict: Verdict) -> Path:
        folder = copy_run(path, target="quorum")
        found = (Finding(verdict, "a-check", "", "what was found", "ACK-01"),)
        judged = replace(RunVerdict.load(folder.verdict), verdict=verdict, headline="as it was", findings=found)
        judged.save(folder.verdict)
        return path

    return make


@pytest.fixture
def of(fleet: Fleet, judged: Judged) -> Deliver:
    """Return a function that delivers the plan of a number, with this verdict."""

    def deliver(number: int, verdict: Verdict) -> Delivered:
        scenario = f"random-{ORDER.plan_seed(number)}"
        judged(fleet.folder / scenario, verdict)
        return Delivered(number, scenario, ORDER.plan_seed(number), "", verdict, "", 1.0, "here", True)

    return deliver


def published(fleet: Fleet) -> list[str]:
    return sorted(fleet.store.read(RUNS, ["run_id"])["run_id"].to_pylist())


def test_the_files_of_a_round_give_its_plans_again(tmp_path: Path) -> None:
    made = Round(tmp_path, 1, (1, 2, 3))
    made.save(NOTHING)
    [(found, guidance, outcomes)] = saved_rounds(tmp_path)
    assert (found, guidance, outcomes) == (made, NOTHING, None)
    assert list(found.plans(ORDER, guidance)) == list(made.plans(ORDER, NOTHING))


def test_rounds_have_all_plans_once_and_end_with_the_last(fleet: Fleet, of: Deliver) -> None:
    numbers: list[int] = []
    while not fleet.over:
        made, guidance = fleet.next_round()
        numbers += [task.number for task in fleet.tasks(made, guidance)]
        fleet._close(made, guidance, [of(number, Verdict.PASS) for number in made.numbers])
    assert numbers == [1, 2, 3, 4, 5]
    assert fleet.round == 2
    assert not list(fleet.folder.glob("random-*")), "what passed leaves its rows in the store alone"
    assert len(published(fleet)) == 5


def test_no_round_begins_once_enough_kinds_of_violations_are_new(fleet: Fleet, of: Deliver) -> None:
    fleet.until = 1
    fleet.order = replace(ORDER, plans=9)
    made, guidance = fleet.next_round()
    fleet._close(made, guidance, [of(number, Verdict.PASS) for number in made.numbers])
    assert not fleet.over
    made, guidance = fleet.next_round()
    fleet._close(made, guidance, [of(number, Verdict.VIOLATION) for number in made.numbers])
    assert len(fleet.new_signatures) == 1
    assert fleet.over
    later = replace(fleet, outcomes=[], round=0, _next=1, _first=None, _known=None)
    assert later.take_up() is None
    assert later.over, "a driver that goes on knows what was new"
    later.until = 2
    assert not later.over


def test_a_round_has_no_plan_that_an_executor_lacks_something_for(tmp_path: Path) -> None:
    lacks = {Capability.KILL: "vm:1: no signals", Capability.DISKS: "vm:2: no FUSE"}
    made = Round(tmp_path, 1, tuple(range(1, 13)), lacks=lacks)
    made.save(NOTHING)
    [(found, guidance, _)] = saved_rounds(tmp_path)
    needed = {FAULTS[name].capability for _, plan in found.plans(ORDER, guidance) for name in faults(plan)}
    assert needed and not needed & lacks.keys()
    anyway = replace(found, lacks={}).plans(ORDER, guidance)
    assert Capability.KILL in {FAULTS[name].capability for _, plan in anyway for name in faults(plan)}


def faults(plan: Plan) -> set[str]:
    return {step.fault for step in plan.steps if isinstance(step, InjectStep)}


def test_a_machine_on_which_most_plans_starve_gets_no_further_one_unless_it_is_the_last(fleet: Fleet) -> None:
    shares = {
        1: ("busy", 0.5),
        2: ("busy", 0.4),
        3: ("busy", 0.1),
        4: ("idle", 0.9),
        5: ("idle", 0.0),
        6: ("idle", 0.1),
    }
    outcomes = []
    for number, (name, share) in shares.items():
        named = {
            "run_id": f"{number}",
            "scenario": f"plan-{number}",
            "starvation": share,
            "campaign": fleet.folder.name,
        }
        fleet.store.add({"runs": [OF_A_RUN | named]})
        outcomes.append(Delivered(number, f"plan-{number}", 1, "", Verdict.PASS, "", 1.0, name, False))
    fleet._machines = frozenset({"busy"})
    assert fleet.leave_out_starving(outcomes) == {"busy": 0.4}
    assert not fleet.left_out, "no machine would be left"
    fleet._machines = frozenset({"busy", "idle"})
    assert fleet.leave_out_starving(outcomes) == {"busy": 0.4}
    made, guidance = fleet.next_round()
    assert {task.left_out for task in fleet.tasks(made, guidance)} == {frozenset({"busy"})}


def test_a_plan_without_a_cluster_runs_once_more_as_it_was_and_counts_once(fleet: Fleet, of: Deliver) -> None:
    made, guidance = fleet.next_round()
    first = {task.number: task for task in fleet.tasks(made, guidance)}
    failed, *others = made.numbers
    outcomes = [of(failed, Verdict.INFRASTRUCTURE), *(of(each, Verdict.PASS) for each in others)]
    fleet._close(made, guidance, outcomes)
    assert (fleet.folder / AGAIN / outcomes[0].scenario).is_dir()
    made, guidance = fleet.next_round()
    assert made.again == {failed}
    assert first[failed] in fleet.tasks(made, guidance)
    last = [of(each, Verdict.INFRASTRUCTURE) for each in (failed, *made.numbers)]
    fleet._close(made, guidance, last)
    assert [each.number for each in fleet.outcomes].count(failed) == 1
    assert len(published(fleet)) == 3, "the first of two runs of a plan is not published"
    assert failed not in fleet._again, "twice is enough"


def test_a_driver_goes_on_where_the_files_say(fleet: Fleet, of: Deliver) -> None:
    made, guidance = fleet.next_round()
    fleet._close(made, guidance, [of(number, Verdict.PASS) for number in made.numbers])
    begun, _ = fleet.next_round()
    later = replace(fleet, outcomes=[], round=0, _next=1)
    going_on = later.take_up()
    assert going_on is not None and going_on[0] == begun
    assert [each.number for each in later.outcomes] == list(made.numbers)
    assert later._next == fleet._next


def test_rounds_and_causes_are_not_taken_for_runs(fleet: Fleet) -> None:
    fleet.next_round()
    (fleet.folder / CAUSES_FOLDER).mkdir()
    assert list(fleet.publish().aside) == []


def test_a_run_that_the_store_did_not_take_keeps_its_folder(fleet: Fleet, of: Deliver) -> None:
    made, guidance = fleet.next_round()
    outcomes = [of(number, Verdict.PASS) for number in made.numbers]
    damaged = fleet.folder / outcomes[0].scenario
    (damaged / "plan.yaml").write_text("no: plan")
    fleet._close(made, guidance, outcomes)
    assert list(fleet.folder.glob("random-*")) == [damaged]


def test_what_was_judged_is_not_run_again(fleet: Fleet, judged: Judged) -> None:
    made, guidance = fleet.next_round()
    task = replace(fleet.tasks(made, guidance)[0], plan="no plan: to run it would fail")
    judged(fleet.folder / task.scenario, Verdict.VIOLATION)
    delivered = perform(task)
    assert (delivered.verdict, delivered.headline) == (Verdict.VIOLATION, "as it was")


def test_an_executor_that_is_left_out_runs_nothing(fleet: Fleet) -> None:
    made, guidance = fleet.next_round()
    task = replace(fleet.tasks(made, guidance)[0], left_out=frozenset({machine()}))
    with pytest.raises(NoPlanHere):
        perform(task)


def test_a_plan_that_cannot_begin_is_infrastructure_with_its_last_words(fleet: Fleet) -> None:
    made, guidance = fleet.next_round()
    delivered = perform(replace(fleet.tasks(made, guidance)[0], plan="no: plan"))
    assert (delivered.verdict, delivered.has_folder) == (Verdict.INFRASTRUCTURE, False)
    assert "did not begin" in delivered.headline


def test_the_first_run_that_arrives_stays(tmp_path: Path, judged: Judged) -> None:
    place = tmp_path / "campaign" / "random-1"
    place.parent.mkdir()
    for verdict in (Verdict.VIOLATION, Verdict.PASS):
        _deliver(judged(tmp_path / verdict.value, verdict), place)
    assert RunVerdict.load(place / "verdict.json").verdict is Verdict.VIOLATION
    assert [each.name for each in (place.parent / ".arriving").iterdir()] == []


def test_what_a_killed_executor_left_is_removed_once_its_run_is_over(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as running:
        over, ending, ours = (tmp_path / f"{SCRATCH}{pid}-x" for pid in (gone.pid, f"{gone.pid}-y", os.getpid()))
        for each in (over, ending, ours):
            each.mkdir()
        (ending / "pid").write_text(str(running.pid))
        assert not sweep(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted((ending, ours))
        running.communicate(b"\n")
    assert sweep(tmp_path)
    assert list(tmp_path.iterdir()) == [ours]
