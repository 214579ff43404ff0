"""Old runs expire with exceptions, and small files are joined."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from fencepost.results.store import maintenance
from fencepost.results.store.check import check
from fencepost.results.store.maintenance import compact, expire, expiry
from fencepost.results.store.store import Store
from fencepost.results.store.tables import FINDINGS, RUNS
from tests.results.store.stores import NOW, finding, run

AGE = timedelta(days=180)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(str(tmp_path / "store"))


def expired(store: Store, last: int = 3) -> set[str]:
    return {name for _, name in expiry(store, AGE, NOW, last).expired}


def test_the_last_runs_of_a_test_never_expire(store: Store) -> None:
    store.add({"runs": [run(f"old-{n}", 200 + n) for n in range(5)] + [run("other", 400, test="u")]})
    assert expired(store) == {"old-3", "old-4"}


def test_runs_younger_than_the_limit_stay_however_many_there_are(store: Store) -> None:
    store.add({"runs": [run(f"run-{n}", n) for n in range(20)]})
    assert expired(store) == set()


def test_the_evidence_of_an_open_violation_never_expires(store: Store) -> None:
    rows = [run(f"pass-{n}", 200 + n) for n in range(2)]
    rows += [run("broken", 300, verdict="violation"), run("older", 301), run("oldest", 302)]
    store.add({"runs": rows})
    assert expired(store, last=1) == {"pass-1", "broken", "older", "oldest"}, "one pass closes it"
    assert expired(store, last=3) == {"older", "oldest"}


def test_a_violation_is_closed_by_as_many_passes_as_there_are_last_runs(store: Store) -> None:
    broken = [run("broken", 300, verdict="violation")]
    store.add({"runs": broken + [run(f"pass-{n}", 200 + n) for n in range(2)]})
    assert expired(store, last=3) == set()
    store.add({"runs": [run("pass-3", 190)]})
    assert expired(store, last=3) == {"broken"}


def test_a_violation_in_between_keeps_the_earlier_ones_open(store: Store) -> None:
    store.add({"runs": [run("first", 300, verdict="violation"), run("second", 250, verdict="violation")]})
    store.add({"runs": [run(f"pass-{n}", 200 + n) for n in range(2)] + [run(f"mid-{n}", 260 + n) for n in range(3)]})
    assert {"first", "second"}.isdisjoint(expired(store, last=3))


def test_a_violation_of_a_random_plan_is_closed_only_by_the_same_plan(store: Store) -> None:
    plan = {"test": "(random plans)", "campaign": "c"}
    store.add({"runs": [run("broken", 300, verdict="violation", plan_hash="p", **plan)]})
    store.add({"runs": [run(f"pass-{n}", 200 + n, plan_hash=f"q{n}", **plan) for n in range(9)]})
    assert "broken" not in expired(store)
    store.add({"runs": [run("replayed", 100, plan_hash="p", **plan)]})
    assert "broken" in expired(store)


def test_a_violation_of_a_planted_defect_is_no_evidence(store: Store) -> None:
    store.add({"runs": [run("planted", 300, verdict="violation", left_out="planted defect")]})
    store.add({"runs": [run(f"pass-{n}", n) for n in range(3)]})
    assert expired(store) == {"planted"}


def test_attempts_expire_with_their_run_and_are_one_of_the_last_runs(store: Store) -> None:
    for days_ago in (201, 202, 203):
        for attempt, verdict in ((1, "violation"), (2, "pass")):
            started = days_ago - attempt / 100
            name, report = f"{days_ago}-{attempt}", f"report {days_ago}"
            row = run(name, started, verdict=verdict, attempt=attempt, attempts=2, report=report)
            store.add({"runs": [row]})
    assert expired(store, last=2) == {"203-1", "203-2"}


def test_an_expired_run_is_gone_from_all_tables_and_the_others_are_not(store: Store) -> None:
    store.add(
        {"runs": [run("it's old", 300), run("new", 1)], "findings": [finding("it's old", 300), finding("new", 1)]}
    )
    found = expiry(store, AGE, NOW, last=1)
    assert [name for _, name in found.expired] == ["it's old"]
    expire(store, found.expired)
    for table in (RUNS, FINDINGS):
        assert store.read(table, ["run_id"])["run_id"].to_pylist() == ["new"]
    assert expired(store, last=1) == set()


def test_compaction_joins_files_and_loses_no_row(store: Store) -> None:
    for n in range(4):
        store.add({"runs": [run(f"run-{n}")]})
    [runs] = [each for each in compact(store) if each.table == "runs"]
    assert (runs.before, runs.after) == (4, 1)
    assert store.read(RUNS).num_rows == 4
    assert store.add({"runs": [run("run-2")]})["runs"] == 0


COMPACTING = """
import sys
from fencepost.harness.cli.commands.store import CompactOptions
from fencepost.harness.cli.results import compact
print("ready", flush=True)
sys.stdin.readline()
compact(CompactOptions(sys.argv[1]))
"""


def test_compactions_of_several_processes_beside_publications_keep_each_row_once(store: Store) -> None:
    for n in range(12):
        store.add({"runs": [run(f"run-{n}", n % 2)], "findings": [finding(f"run-{n}", n % 2)]})
    with ExitStack() as stack:
        compactions = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", COMPACTING, store.address],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(2)
        ]
        for each in compactions:
            assert each.stdout is not None and each.stdin is not None
            assert each.stdout.readline() == "ready\n"
        for each in compactions:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        for n in range(12, 15):
            store.add({"runs": [run(f"run-{n}")], "findings": [finding(f"run-{n}")]})
        assert [each.wait(60) for each in compactions] == [0, 0]
    for table in (RUNS, FINDINGS):
        assert sorted(store.read(table)["run_id"].to_pylist()) == sorted(f"run-{n}" for n in range(15))
    assert [state.problems for state in check(store) if state.problems] == []


def test_files_that_are_large_are_left_as_they_are(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "SMALL", 1)
    for n in range(2):
        store.add({"runs": [run(f"run-{n}")]})
    [runs] = [each for each in compact(store) if each.table == "runs"]
    assert (runs.before, runs.after) == (2, 2)
