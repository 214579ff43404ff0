"""Writers that overlap lose nothing and double nothing: each commits on the version that it read, or begins again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from fencepost.results.store import commits
from fencepost.results.store.errors import StoreError
from fencepost.results.store.maintenance import expire, expiry, join_files
from fencepost.results.store.repair import repair
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS
from tests.results.store.stores import NOW, run

Write = Callable[[Store], object]
FIRST = ("run-0", "run-1", "run-2", "old")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(str(tmp_path / "store"))
    for name in FIRST:
        append(store, name, 300 if name == "old" else 0)
    return store


def let_come_first(store: Store, other: Write, monkeypatch: pytest.MonkeyPatch) -> list[DeltaTable]:
    """Let another writer commit after the next write of the table `runs` has read it; return all tables it gets."""
    tables: list[DeltaTable] = []
    real = commits.commit

    def commit(newest: Callable[[], DeltaTable], write: Callable[[DeltaTable], Any]) -> Any:
        def overtaken(table: DeltaTable) -> Any:
            if table.table_uri.rstrip("/").endswith("/runs"):
                tables.append(table)
                if len(tables) == 1:
                    other(Store(store.address))
            return write(table)

        return real(newest, overtaken)

    monkeypatch.setattr("fencepost.results.store.store.commit", commit)
    return tables


def publish(store: Store, name: str = "new") -> None:
    """Publish a run that is new, and one that the store has."""
    store.add({"runs": [run(name), run("run-1")]})


def compact(store: Store) -> None:
    store.commit(RUNS, join_files)


def let_expire(store: Store) -> None:
    expire(store, expiry(store, timedelta(days=180), NOW, 1).expired)


def mend(store: Store) -> None:
    list(repair(store))


def optimize(store: Store) -> None:
    """Maintain the table as a job of another system does, by the rules of Delta Lake alone."""
    store.delta(RUNS).optimize.compact()


def append(store: Store, name: str = "appended", days_ago: float = 0) -> None:
    rows = pa.Table.from_pylist([run(name, days_ago)], schema=RUNS.schema.remove_metadata())
    write_deltalake(store.delta(RUNS), rows, mode="append")


ADDED: dict[Write, set[str]] = {publish: {"new"}, append: {"appended"}}


@pytest.mark.parametrize("other", [publish, compact, let_expire, optimize, append], ids=lambda each: each.__name__)
@pytest.mark.parametrize("write", [publish, compact, let_expire], ids=lambda each: each.__name__)
def test_of_writers_that_overlap_both_are_done_and_no_row_is_lost_or_double(
    store: Store, write: Write, other: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_come_first(store, other, monkeypatch)
    write(store)
    expected = set(FIRST) | ADDED.get(write, set()) | ADDED.get(other, set())
    expected -= {"old"} if let_expire in (write, other) else set()
    assert sorted(store.read(RUNS)["run_id"].to_pylist()) == sorted(expected)


def test_a_repair_that_is_overtaken_begins_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    write_deltalake(store.at(RUNS), store.read(RUNS), mode="append")
    tables = let_come_first(store, publish, monkeypatch)
    mend(store)
    assert sorted(store.read(RUNS)["run_id"].to_pylist()) == sorted([*FIRST, "new"])
    assert len(tables) == 3, "publication, refused repair, repair"


def test_a_job_of_another_system_that_is_overtaken_by_a_compaction_is_refused(store: Store) -> None:
    early = store.delta(RUNS)
    compact(store)
    with pytest.raises(Exception, match="concurrent transaction"):
        early.delete("run_id = 'run-1'")
    assert sorted(store.read(RUNS)["run_id"].to_pylist()) == sorted(FIRST)


def test_what_time_does_not_mend_is_not_tried_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.delta(RUNS).alter.set_table_properties({"delta.appendOnly": "true"})
    tables = let_come_first(store, lambda store: None, monkeypatch)
    with pytest.raises(StoreError, match="append"):
        let_expire(store)
    assert len(tables) == 1


def test_a_write_that_waits_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(commits, "SILENCE", 0.0)
    let_come_first(store, publish, monkeypatch)
    publish(store, "mine")
    assert "other writers came first 1 times; trying again for up to 300 s" in caplog.text


def test_a_row_that_is_given_twice_is_added_once(store: Store) -> None:
    assert store.add({"runs": [run("twice"), run("twice")]}) == {"runs": 1}
