"""Rows of a day that were kept are those that would be made anew, whatever happened to the store meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.jobs import JOBS, Evidence, Keep, Scope, read_evidence
from fencepost.results.mining.kept import DAILY
from fencepost.results.store.kept_days import KeptDays
from fencepost.results.store.maintenance import compact, expire
from fencepost.results.store.repair import repair
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS
from tests.results.mining.conftest import SLOW
from tests.results.store.stores import NOW, finding, run

pytestmark = pytest.mark.integration

DAYS = 4
VERDICTS = ("pass", "violation", "violation", "inconclusive")


def rows_of(table: pa.Table) -> list[str]:
    """Return the rows as text, sorted; the last digits of a sum depend on the order of its parts."""
    columns = sorted(table.column_names)
    rows = ([row[name] for name in columns] for row in table.to_pylist())
    return sorted(repr([round(each, 9) if isinstance(each, float) else each for each in row]) for row in rows)


def read(spark: SparkSession, store: Store, keep: Keep, **scope: object) -> Evidence:
    return read_evidence(spark, store, Scope(NOW, **scope), keep=keep)  # type: ignore[arg-type]


def publish(store: Store, names: list[str], rng: random.Random) -> None:
    runs, findings, faults, timings, rules = (list[dict[str, Any]]() for _ in range(5))
    for name in names:
        days_ago, test = rng.randrange(DAYS) + rng.random(), rng.choice("abc")
        verdict, build = rng.choice(VERDICTS), rng.choice(("b1", "b2", None))
        row = run(name, days_ago, test=test, verdict=verdict, build=build, plan_hash=rng.choice("pq"), commit="c")
        row |= {"ci_url": f"job/{rng.randrange(3)}", "left_out": rng.choice((None, None, None, "planted defect"))}
        head = {key: row[key] for key in ("date", "run_id", "test", "target", "backend", "verdict", "started_at")}
        head |= {"build": build, "row": 0}
        runs.append(row)
        if verdict == "violation":
            findings.append(finding(name, days_ago, test=test))
        faults.append(head | {"kind": "kill", "fault": "kill", "role": rng.choice(("leader", "follower"))})
        timings.append(head | {"timing": "failover", "begin_s": 0.0, "seconds": rng.choice((None, 1.0, 2.5, 9.0))})
        timings[-1] |= {"outcome": "done"}
        rules.append(head | {"rule": "ACK-01", "state": rng.choice(("held", "broken")), "checks": 1})
        faults[-1] |= {"ordered_s": 1.0, "active_faults": 0, "outcome": "healed"}
    store.add({"runs": runs, "findings": findings, "faults": faults, "timings": timings, "requirements": rules})


@SLOW
def test_what_was_kept_is_what_is_made_anew_after_each_change_of_the_store(spark: SparkSession, tmp_path: Path) -> None:
    store, rng = Store.create(str(tmp_path / "store")), random.Random(7)
    changes: dict[str, Callable[[], object]] = {
        "publication": lambda: publish(store, [f"more-{number}" for number in range(3)], rng),
        "expiry": lambda: expire(store, [(row["date"], row["run_id"]) for row in _some(store)]),
        "compaction": lambda: list(compact(store)),
        "repair of doubled rows": lambda: list(repair(_doubled(store))),
    }
    publish(store, [f"first-{number}" for number in range(12)], rng)
    assert_equal(spark, store, "the first time")
    for change, make in changes.items():
        make()
        assert_equal(spark, store, change)


def assert_equal(spark: SparkSession, store: Store, after: str) -> None:
    once, plain = read(spark, store, Keep.ONCE), read(spark, store, Keep.NOT)
    # One that is made of one table, and one of two: the others differ from these in what they add up.
    for name in ("outcomes", "hits"):
        assert rows_of(once.kept[name]) == rows_of(plain.daily(name)), (name, after)
    assert once.kept["outcomes"].num_rows > 0


def _some(store: Store) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = store.read(RUNS, ["date", "run_id"]).sort_by("run_id").slice(0, 4).to_pylist()
    return rows


def _doubled(store: Store) -> Store:
    """Put all rows of the runs into the store once more, as two overlapping compactions of deltalake did."""
    from deltalake import write_deltalake

    write_deltalake(store.at(RUNS), store.read(RUNS).cast(RUNS.schema.remove_metadata()), mode="append")
    return store


def test_only_days_with_new_files_are_made_again(spark: SparkSession, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    store.add({"runs": [run("old", 3), run("older", 9, verdict="violation")]})
    before = kept_files(spark, store)
    store.add({"runs": [run("new", 3, test="u")]})
    after = kept_files(spark, store)
    changed = {day for day, _ in set(before.items()) ^ set(after.items())}
    assert changed == {(NOW - timedelta(days=3)).date()}
    assert sorted(after) == sorted(before) and len(after) == 2
    anew = read(spark, store, Keep.ANEW)
    assert sum(row["n"] for row in anew.kept["outcomes"].to_pylist()) == 3
    assert not set(_files(store).values()) & set(after.values())


def kept_files(spark: SparkSession, store: Store) -> dict[date, tuple[str, ...]]:
    read(spark, store, Keep.ONCE)
    return _files(store)


def _files(store: Store) -> dict[date, tuple[str, ...]]:
    return {
        day: tuple(files) for (day, _), files in KeptDays(store, "outcomes", DAILY["outcomes"].version).files().items()
    }


def test_two_jobs_that_keep_the_same_days_at_once_keep_each_once(spark: SparkSession, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    store.add({"runs": [run(f"r{number}", number, verdict="violation") for number in range(DAYS)]})
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: rows_of(read(spark, store, Keep.ONCE).kept["outcomes"]), range(2)))
    assert found[0] == found[1] == rows_of(read(spark, store, Keep.NOT).daily("outcomes"))
    assert rows_of(read(spark, store, Keep.ONCE).kept["outcomes"]) == found[0] and len(found[0]) == DAYS


def test_a_scope_that_begins_within_a_day_counts_no_run_before_it(spark: SparkSession, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    store.add({"runs": [run("early", 1.4), run("late", 1.1), run("other", 0.5, target="t2"), run("before", 3)]})
    read(spark, store, Keep.ONCE)
    of = {"since": NOW - timedelta(days=1.2), "target": "quorum"}
    scoped = read(spark, store, Keep.ONCE, **of)
    assert [row["n"] for row in scoped.kept["outcomes"].to_pylist()] == [1]
    assert rows_of(scoped.kept["outcomes"]) == rows_of(read(spark, store, Keep.NOT, **of).daily("outcomes"))


def test_a_store_that_cannot_be_written_is_mined_all_the_same(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store.create(str(tmp_path / "store"))
    store.add({"runs": [run("a")]})
    (tmp_path / "store" / "kept").write_text("no folder")
    assert read(spark, store, Keep.ONCE).kept["outcomes"].num_rows == 1
    assert "is not kept" in caplog.text


@SLOW
def test_all_jobs_say_the_same_of_kept_days_as_of_all_results(spark: SparkSession, tmp_path: Path) -> None:
    store, rng = Store.create(str(tmp_path / "store")), random.Random(11)
    publish(store, [f"first-{number}" for number in range(60)], rng)
    read(spark, store, Keep.ONCE)
    publish(store, [f"more-{number}" for number in range(20)], rng)
    once, plain = read(spark, store, Keep.ONCE), read(spark, store, Keep.NOT)
    for name in DAILY:
        assert rows_of(once.kept[name]) == rows_of(plain.daily(name)), name
    for name, job in JOBS.items():
        assert rows_of(job(once)) == rows_of(job(plain)), name
