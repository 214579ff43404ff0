"""All jobs over a store: those of one scope, and those of a store with nothing in it."""

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.jobs import JOBS, Scope, naming_damage, read_evidence, run_jobs
from fencepost.results.store.errors import DamagedStore
from fencepost.results.store.store import Store
from fencepost.results.store.tables import FINDINGS
from tests.results.store.stores import NOW, finding, run

pytestmark = pytest.mark.integration


def test_a_store_without_runs_gives_every_job_an_empty_result(spark: SparkSession, tmp_path: Path) -> None:
    found = run_jobs(spark, Store.create(str(tmp_path / "store")), Scope(NOW))
    assert {name: rows.num_rows for name, rows in found.items()} == dict.fromkeys(JOBS, 0)


def test_only_runs_of_the_scope_are_read(spark: SparkSession, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    runs = [
        run("old", 40),
        run("same-day", 30.2),
        run("other", 1, target="apache-kafka"),
        run("new", 1, verdict="violation"),
    ]
    store.add({"runs": runs, "findings": [finding("old", 40), finding("new", 1)]})
    scope = Scope(NOW, since=NOW - timedelta(days=30), target="quorum")
    evidence = read_evidence(spark, store, scope, [("ACK-01", "No record is lost.", "quorum")])
    assert [row["run_id"] for row in evidence.runs.collect()] == ["new"]
    assert evidence.rows("runs", ["run_id"])["run_id"].to_pylist() == ["new"]
    assert evidence.rows("runs", ["run_id"], ["another"]).num_rows == 0
    assert evidence.rows("runs", ["run_id"], []).num_rows == 0
    assert [row["run_id"] for row in evidence.frame("findings").collect()] == ["new"]
    assert [row["state"] for row in JOBS["coverage"](evidence).to_pylist()] == ["never exercised"]


def test_a_damaged_file_is_named_and_not_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    store.add({"runs": [run("a"), run("b", 3)], "findings": [finding("a"), finding("b", 3)]})
    file = Path(min(store.files(FINDINGS)))
    content = file.read_bytes()
    file.write_bytes(content[:100] + b"\xff" * 200 + content[300:])
    with pytest.raises(DamagedStore, match=f"table findings is damaged: .*{file.name}"), naming_damage(store):
        read_evidence(spark, store, Scope(NOW)).frame("findings").collect()
    with pytest.raises(DamagedStore, match=f"table findings is damaged: .*{file.name}"):
        read_evidence(spark, store, Scope(NOW)).rows("findings", FINDINGS.schema.names)
    file.write_bytes(b"")
    with pytest.raises(DamagedStore, match=f"table findings is damaged: .*{file.name} has 0 bytes"):
        read_evidence(spark, store, Scope(NOW))
