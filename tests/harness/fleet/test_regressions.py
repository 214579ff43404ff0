"""Plans that found a violation are tried first on a new release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fencepost.faults.registry import FAULTS
from fencepost.harness.campaign.campaign import Campaign, Order
from fencepost.harness.fleet.fleet import Fleet, spark_context
from fencepost.harness.fleet.regressions import regressions
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.publishing.folders import find
from fencepost.harness.publishing.publish import publish_runs
from fencepost.results.records.verdict import RunVerdict, Verdict
from fencepost.results.store.store import Store
from tests.harness.publishing.conftest import CopyRun
from tests.results.mining.conftest import SLOW


def test_the_plan_of_a_violation_is_one_for_the_release_and_one_that_does_not_fit_is_named(
    tmp_path: Path, copy_run: CopyRun
) -> None:
    copy_run(tmp_path / "runs" / "red")
    passed = copy_run(tmp_path / "runs" / "green")
    replace(RunVerdict.load(passed.verdict), verdict=Verdict.PASS, findings=()).save(passed.verdict)
    store = Store.create(str(tmp_path / "store"))
    publish_runs(find([tmp_path / "runs"]), store)
    left_out: list[str] = []
    [plan] = regressions(store, "zk-controller", "1", "", {}, left_out.append)
    assert (plan.target, plan.scenario) == ("zk-controller:1", "regression-1")
    assert left_out == []
    assert regressions(store, "zk-controller", "1..2", "", {}, left_out.append) == []
    assert len(left_out) == 1
    needed = {FAULTS[step.fault].capability: "vm:1 has none" for step in plan.steps if isinstance(step, InjectStep)}
    assert regressions(store, "zk-controller", "1", "", needed, left_out.append) == []
    assert left_out[1] == f"{plan.title}: vm:1 has none"


@SLOW
def test_what_ran_first_counts_once_also_for_a_driver_that_goes_on(tmp_path: Path, copy_run: CopyRun) -> None:
    store = Store.create(str(tmp_path / "store"))
    copy_run(tmp_path / "runs" / "red")
    publish_runs(find([tmp_path / "runs"]), store)
    order = Order("zk-controller:1", "process", 1, 60, 0)
    fleet = Fleet(order, Campaign.create(order, tmp_path / "campaigns").folder, store, 3)
    plans = regressions(store, "zk-controller", "1", "", {}, print)
    copy_run(fleet.folder / plans[0].scenario)  # delivered by an executor
    with spark_context("local[1]", 1) as spark:
        [first] = fleet.run_first(spark, plans)
    assert (first.number, first.verdict) == (0, Verdict.VIOLATION)
    later = replace(fleet, outcomes=[])
    assert later.run_first(spark, plans) == [first], "nothing runs: the connection is closed"
    assert later.outcomes == [first]
