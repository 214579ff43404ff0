"""Synthesized histories are what their truth says."""

from pathlib import Path

import pyarrow.compute as pc

from fencepost.results.mining.synthesize import TRUTH, Truth, make_truth, name, synthesize
from fencepost.results.store.store import Store
from fencepost.results.store.tables import FAULTS, FINDINGS, KEPT_ASIDE, RUNS


def test_a_store_has_the_failures_that_the_truth_says_and_the_same_ones_again(tmp_path: Path) -> None:
    truth = make_truth(tests=100, builds=5, runs_per_build=4, seed=3, torn=2)
    stores = [Store.create(str(tmp_path / folder)) for folder in ("a", "b")]
    assert [synthesize(store, truth, seed=3) for store in stores] == [2000, 2000]
    assert Truth.load(tmp_path / "a" / TRUTH) == truth
    runs, again = (store.read(RUNS, ["run_id", "test", "build", "verdict"]).sort_by("run_id") for store in stores)
    assert runs.equals(again) and runs.num_rows == 2000
    failures: dict[tuple[str, int], list[bool]] = {}
    for row in runs.to_pylist():
        if row["verdict"] not in ("pass", "violation"):
            continue
        failures.setdefault((row["test"], int(row["build"][-3:])), []).append(row["verdict"] == "violation")
    for number, kind in enumerate(truth.kinds):
        for build in range(1, 6):
            found = failures.get((name(number), build), [])
            if kind == "broken":
                assert all(found) if build >= truth.changes[number] else sum(found) <= 1
            if kind == "healthy":
                assert sum(found) <= 1
    flaky = [
        sum(failures[name(number), build])
        for number, kind in enumerate(truth.kinds)
        if kind == "flaky"
        for build in range(1, 6)
    ]
    assert 0.1 < sum(flaky) / (4 * len(flaky)) < 0.6
    violations = pc.sum(pc.equal(runs["verdict"], "violation")).as_py()
    assert stores[0].read(FINDINGS, ["run_id"]).num_rows == violations
    assert stores[0].read(FAULTS, ["run_id"]).num_rows == 4000
    assert stores[0].read(KEPT_ASIDE, ["id"]).num_rows == 2
