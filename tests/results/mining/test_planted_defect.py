"""A defect that enters at a known build, as the jobs and `show` name it after 20 random plans on each build."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.jobs import JOBS, Scope, read_evidence
from fencepost.results.records.folder import RANDOM_PLANS
from fencepost.results.store.store import Store
from fencepost.results.store.tables import FAULTS, FINDINGS, RUNS
from tests.results.mining.conftest import SLOW
from tests.results.mining.test_trends import mine
from tests.results.store.stores import finding, run

pytestmark = [pytest.mark.integration, SLOW]

BUILDS = ("b1", "b2", "b3", "b4")
DEFECTIVE = ("b3", "b4")
RUNS_EACH = 20
KINDS = ("pause", "kill", "cut", "clock-jump", "slow-link", "duplicate")
ROLES = ("leader", "ISR member", "active controller")
TRIGGER = "duplicate"


def histories() -> Iterator[tuple[dict[str, Any], list[tuple[str, str]]]]:
    """Yield the runs with their faults: three kinds of six in each plan, each on a role. Runs are an hour apart."""
    rng = random.Random(4)
    began = datetime.now(UTC) - timedelta(hours=len(BUILDS) * RUNS_EACH)
    for number in range(len(BUILDS) * RUNS_EACH):
        build = BUILDS[number // RUNS_EACH]
        hits = [(kind, rng.choice(ROLES)) for kind in rng.sample(KINDS, 3)]
        verdict = "violation" if build in DEFECTIVE and TRIGGER in dict(hits) else "pass"
        started = began + timedelta(hours=number)
        place: dict[str, Any] = {
            "started_at": started,
            "date": started.date(),
            "build": build,
            "plan_hash": f"p{number}",
        }
        yield run(f"run-{number}", test=RANDOM_PLANS, verdict=verdict, **place), hits


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows: dict[str, list[dict[str, Any]]] = {RUNS.name: [], FAULTS.name: [], FINDINGS.name: []}
    shared = ("date", "run_id", "test", "target", "build", "backend", "verdict", "started_at")
    for row, hits in histories():
        rows[RUNS.name].append(row)
        head = {name: row[name] for name in shared}
        for number, (kind, role) in enumerate(hits):
            hit = {"row": number, "fault": kind, "kind": kind, "role": role, "cluster_state": "whole"}
            rows[FAULTS.name].append(head | hit | {"active_faults": 0, "ordered_s": 1.0, "outcome": "healed"})
        if row["verdict"] == "violation":
            lost = {"rule": "ACK-01", "message": "3 records are gone.", "at_s": 9.0}
            rows[FINDINGS.name].append(finding(row["run_id"]) | head | lost)
    path = tmp_path_factory.mktemp("planted") / "store"
    Store.create(str(path)).add(rows)
    return path


def test_the_build_is_the_change_point_and_its_trigger_is_the_first_cause(spark: SparkSession, store: Path) -> None:
    evidence = read_evidence(spark, Store.open(str(store)), Scope(datetime.now(UTC)))
    [change] = JOBS["change_points"](evidence).to_pylist()
    assert (change["test"], change["build"], change["direction"]) == (RANDOM_PLANS, DEFECTIVE[0], "worse")
    assert (change["low_build"], change["high_build"], change["rate_before"]) == (DEFECTIVE[0], DEFECTIVE[0], 0)
    first = JOBS["attribution"](evidence).to_pylist()[0]
    assert (first["causes"], first["independent"]) == ([f"fault:{TRIGGER}"], 1)


def test_show_has_the_change_the_cause_and_the_failure_of_one_test(store: Path) -> None:
    done = mine("show", RANDOM_PLANS, "--store", str(store))
    assert (done.returncode, done.stderr) == (0, "")
    assert "It became worse with b3 on" in done.stdout
    assert f"fault:{TRIGGER}: " in done.stdout.partition("Faults that matter")[2].splitlines()[1]
    assert "ACK-01: 3 records are gone." in done.stdout
    assert f"replay: fencepost show '{RANDOM_PLANS}' --store {store}" in done.stdout
