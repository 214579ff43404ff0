"""A store is found, made, extended and refused for good reasons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from fencepost.results.store.errors import NewerStore, NotAStore, StoreError
from fencepost.results.store.store import VERSION, Store
from fencepost.results.store.tables import FINDINGS, RUNS, TABLES, column
from tests.results.store.stores import finding, run


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(str(tmp_path / "store"))


def test_a_new_store_has_all_tables_with_their_columns_and_descriptions(store: Store) -> None:
    for table in TABLES:
        schema = store.delta(table).schema()
        assert [field.name for field in schema.fields] == table.schema.names
        assert all(field.metadata["comment"] for field in schema.fields)
        assert store.version(table) == table.version


def test_rows_come_back_as_they_were_added(store: Store) -> None:
    row = run("a", features=["fault:pause"], parameters={"k": "v"}, seed=2**40)
    assert store.add({"runs": [row], "findings": [finding("a")]}) == {"runs": 1, "findings": 1}
    [read] = store.read(RUNS).to_pylist()
    assert {name: read[name] for name in row if name != "parameters"} == {
        name: value for name, value in row.items() if name != "parameters"
    }
    assert dict(read["parameters"]) == {"k": "v"} and read["campaign"] is None


@pytest.mark.parametrize("verdict", ["inconclusive", "pass", "violation"])
def test_rows_are_found_by_a_text_also_where_it_is_the_least_or_the_greatest_of_a_file(
    store: Store, verdict: str
) -> None:
    rows = [run("r1", verdict="inconclusive"), run("r2", verdict="pass"), run("r3", verdict="violation")]
    store.add({"runs": rows})
    found = store.read(RUNS, ["run_id", "verdict"], pc.field("verdict") == verdict).to_pylist()
    assert [each["verdict"] for each in found] == [verdict]


def test_a_folder_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for make in (Store.open, Store.create):
        with pytest.raises(NotAStore):
            make(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(NotAStore, match="it is a file"):
        Store.create(str(tmp_path / "notes.txt"))
    with pytest.raises(NotAStore, match="no such folder"):
        Store.open(str(tmp_path / "absent"))


def test_a_store_that_another_process_begins_to_make_is_made(tmp_path: Path) -> None:
    (tmp_path / RUNS.name / "_delta_log").mkdir(parents=True)
    assert Store.create(str(tmp_path)).has(RUNS)


@pytest.mark.parametrize("file", ["runs/2026-11-23-4e0c6796", "other/_delta_log/x"])
def test_a_folder_whose_files_are_like_those_of_a_store_is_refused(tmp_path: Path, file: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("")
    with pytest.raises(NotAStore, match="the folder has other files"):
        Store.create(str(tmp_path))


def test_a_newer_store_is_refused(store: Store) -> None:
    store.delta(FINDINGS).alter.set_table_properties({VERSION: str(FINDINGS.version + 1)}, raise_if_not_exists=False)
    for make in (Store.open, Store.create):
        with pytest.raises(NewerStore, match=r"findings.*use a newer fencepost"):
            make(store.address)


def test_a_table_of_an_earlier_version_gets_the_new_columns_and_keeps_its_rows(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add({"findings": [finding("a")]})
    schema = FINDINGS.schema.append(column("new", Annotated[int | None, "A column of the next version."]))
    later = replace(FINDINGS, version=FINDINGS.version + 1, schema=schema)
    assert store.read(later)["new"].to_pylist() == [None], "readers need no change of the store"
    monkeypatch.setattr("fencepost.results.store.store.TABLES", (RUNS, later))
    extended = Store.create(store.address)
    extended.add({"findings": [finding("b") | {"new": 7}]})
    found = {row["run_id"]: row["new"] for row in extended.read(later, ["run_id", "new"]).to_pylist()}
    assert found == {"a": None, "b": 7}
    assert extended.version(later) == FINDINGS.version + 1


def test_a_store_that_lacks_a_table_of_later_versions_is_read_as_if_it_were_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.results.store.store.TABLES", (RUNS,))
    store = Store.create(str(tmp_path / "store"))
    assert store.read(FINDINGS, ["run_id"]).num_rows == 0


def test_a_store_on_a_full_disk_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fencepost.results.store.store.DeltaTable.merge", full)
    with pytest.raises(StoreError, match=r"no space is left in .*: make room and publish again"):
        store.add({"runs": [run("a")]})


def test_a_damaged_table_is_an_error_of_the_store(store: Store) -> None:
    store.add({"runs": [run("a")]})
    [file] = DeltaTable(store.at(RUNS)).file_uris()
    Path(file).write_bytes(b"torn")
    with pytest.raises(StoreError, match="the table runs is damaged"):
        store.read(RUNS)


def test_any_reader_of_parquet_reads_the_files_that_the_log_lists(store: Store) -> None:
    store.add({"runs": [run("a"), run("b", days_ago=3)]})
    files = DeltaTable(store.at(RUNS)).file_uris()
    assert len(files) == 2
    assert all("date=2026-0" in file for file in files)
