"""Damage of each kind is found and named, and the rest of the store is read all the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow.fs
import pytest
from deltalake import DeltaTable, TableFeatures, write_deltalake

from fencepost.results.store.check import check
from fencepost.results.store.data_files import file_system
from fencepost.results.store.errors import DamagedStore, UnknownFeature
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS, TABLES
from tests.harness.cli.conftest import Fencepost, fencepost
from tests.results.store.stores import finding, run

__all__ = ["fencepost"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(str(tmp_path / "store"))


def damage(file: Path, kind: str) -> None:
    """Damage a data file so that it is empty, cut, written over in the middle, or gone."""
    content = file.read_bytes()
    if kind == "gone":
        file.unlink()
    else:
        file.write_bytes(
            {"empty": b"", "cut": content[:300], "inside": content[:100] + b"\xff" * 200 + content[300:]}[kind]
        )


@pytest.mark.parametrize("kind", ["empty", "cut", "inside", "gone"])
def test_a_damaged_file_is_named_and_the_other_tables_are_checked(store: Store, kind: str) -> None:
    store.add({"runs": [run("a"), run("b", 3)], "findings": [finding("a")]})
    file = Path(min(store.delta(RUNS).file_uris()))
    damage(file, kind)
    with pytest.raises(DamagedStore, match=f"the table runs is damaged: .*{file.name}"):
        store.read(RUNS)
    states = {state.table: state for state in check(store)}
    assert states["runs"].is_damaged and [file.name in problem for problem in states["runs"].problems] == [True]
    assert states["findings"].rows == 1 and not states["findings"].problems


def test_only_damage_inside_of_a_file_keeps_its_length(store: Store) -> None:
    store.add({"runs": [run("a")]})
    [file] = store.files(RUNS)
    damage(Path(file), "inside")
    assert store.files(RUNS) == [file] and len(store.damaged(RUNS)) == 1
    damage(Path(file), "empty")
    with pytest.raises(DamagedStore, match="has 0 bytes"):
        store.files(RUNS)


def test_a_write_over_a_damaged_file_names_it(store: Store) -> None:
    store.add({"runs": [run("a")]})
    [file] = store.files(RUNS)
    damage(Path(file), "empty")
    with pytest.raises(DamagedStore, match=Path(file).name):
        store.add({"runs": [run("a")]})


def test_damage_ends_with_65(fencepost: Fencepost, store: Store) -> None:
    store.add({"runs": [run("a"), run("b", 3)]})
    file = Path(min(store.files(RUNS)))
    damage(file, "empty")
    said = fencepost("results", "check", store.address)
    assert (said.code, file.name in said.out.replace("\n", "")) == (65, True)
    for command in (("results", "expire", store.address, "--older-than", "1d"), ("results", "compact", store.address)):
        assert fencepost(*command).code in (0, 65)
    said = fencepost("results", "expire", store.address, "--older-than", "1d")
    assert (said.code, file.name in said.err) == (65, True)


def test_no_file_system_in_python_is_read_by_threads_of_arrow(store: Store) -> None:
    assert not isinstance(file_system(store.delta(RUNS), store.folder(RUNS)), pyarrow.fs.PyFileSystem)


def test_a_table_with_a_feature_that_changes_what_files_mean_is_refused(store: Store) -> None:
    store.add({"runs": [run("a")]})
    store.delta(RUNS).alter.add_feature(TableFeatures.DeletionVectors, allow_protocol_versions_increase=True)
    for read in (
        lambda: store.rows(RUNS),
        lambda: store.files(RUNS),
        lambda: store.read(RUNS),
        lambda: store.add({"runs": [run("b")]}),
        lambda: Store.open(store.address),
        lambda: Store.create(store.address),
    ):
        with pytest.raises(UnknownFeature, match=r"runs needs what fencepost does not read: deletionVectors"):
            read()
    assert "deletionVectors" in next(check(store)).problems[0]


def test_a_whole_store_has_no_problem(store: Store) -> None:
    store.add({"runs": [run("a")], "findings": [finding("a")]})
    states = list(check(store))
    assert [state.table for state in states] == [table.name for table in TABLES]
    assert [state.problems for state in states if state.problems] == []


def test_a_lost_file_a_double_row_and_half_a_publication_are_found(store: Store) -> None:
    store.add({"runs": [run("a")], "findings": [finding("a"), finding("b")]})
    store.add({"plans": [_plan("a")]})
    write_deltalake(store.at(RUNS), DeltaTable(store.at(RUNS)).to_pyarrow_table(), mode="append")
    [file] = store.delta(next(each for each in TABLES if each.name == "plans")).file_uris()
    Path(file).unlink()
    problems = {state.table: state.problems for state in check(store) if state.problems}
    assert set(problems) == {"runs", "findings", "plans"}
    assert problems["runs"][0].startswith("1 rows have the key of another row")
    assert "publish them again" in problems["findings"][0] and "for example b" in problems["findings"][0]


def _plan(name: str) -> dict[str, object]:
    row = finding(name)
    head = {key: row[key] for key in ("date", "run_id", "test", "target", "backend", "verdict", "started_at", "row")}
    return {**head, "plan_hash": "p", "steps": 1, "plan": "format: x"}
