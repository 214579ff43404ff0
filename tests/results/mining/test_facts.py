"""The facts of the tests that are named, where a store has more tests than pages show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining import facts
from fencepost.results.mining.jobs import Keep, Scope, read_evidence
from fencepost.results.mining.synthesize import make_truth, synthesize
from fencepost.results.store.store import Store

pytestmark = pytest.mark.integration

NAMED = 3
OF_TESTS = ("verdicts_by_build", "newest_runs", "signatures_by_test", "times_by_test", "newest_failures")
LONG_AFTER = datetime(2026, 9, 1, tzinfo=UTC)


def test_the_most_expensive_tests_have_the_facts_that_they_have_among_all(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.create(str(tmp_path / "store"))
    synthesize(store, make_truth(12, 3, 4, seed=2), seed=2)
    every = facts.collect(read_evidence(spark, store, Scope(LONG_AFTER)), "store")
    monkeypatch.setattr(facts, "MOST_TESTS", NAMED)
    few = facts.collect(read_evidence(spark, store, Scope(LONG_AFTER)), "store")
    assert len(every.tests) == 12 and few.tests == every.tests[:NAMED]
    named = {row["test"] for row in few.tests}
    for name in OF_TESTS:
        expected = [row for row in every.rows[name] if row["test"] in named]
        assert sorted(map(repr, few.rows[name])) == sorted(map(repr, expected)), name
        assert expected or name != "newest_runs"
    assert few.totals == every.totals and few.rows["days"] == every.rows["days"]


def test_another_last_week_reads_what_was_kept(spark: SparkSession, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    synthesize(store, make_truth(2, 2, 1, seed=2), seed=2)
    evidence = read_evidence(spark, store, Scope(LONG_AFTER), keep=Keep.ONCE)
    earlier = evidence.ending(LONG_AFTER - timedelta(days=60))
    assert earlier.kept == evidence.kept and earlier.daily("costs") is evidence.daily("costs")
