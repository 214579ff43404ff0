"""A store of each version is read, checked and added to by the present code.

`saved_stores/version-N.tar.xz` was written by the code of version N: a run with a violation, two results of a JUnit
file, a folder that is no run. A change of the tables adds an archive, and no archive is ever replaced.
"""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from fencepost.results.store.check import check
from fencepost.results.store.errors import StoreError
from fencepost.results.store.store import Store
from fencepost.results.store.tables import FAULTS, FINDINGS, KEPT_ASIDE, REQUIREMENTS, RUNS, TABLES
from tests.results.store.stores import run

ARCHIVES = sorted((Path(__file__).parent / "saved_stores").glob("version-*.tar.xz"))


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name.split(".")[0])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    shutil.unpack_archive(request.param, tmp_path)
    return Store.open(str(tmp_path / request.param.name.split(".")[0]))


def test_the_present_version_is_saved() -> None:
    newest = max(table.version for table in TABLES)
    assert f"version-{newest}.tar.xz" in {path.name for path in ARCHIVES}


def test_each_table_is_whole(store: Store) -> None:
    assert {state.table: state.problems for state in check(store) if state.problems} == {}


def test_the_facts_are_those_that_were_published(store: Store) -> None:
    runs = {row["test"]: row for row in store.read(RUNS).to_pylist()}
    assert {test: row["verdict"] for test, row in runs.items()} == {
        "two-leaders": "violation",
        "LogTest::appends": "pass",
        "LogTest::truncates": "violation",
    }
    assert (runs["two-leaders"]["suite"], runs["LogTest::appends"]["ci_job"]) == ("Kafka Internals (2017)", "unit")
    lost = {row["rule"] for row in store.read(FINDINGS).to_pylist() if row["finding"] == "violation"}
    assert lost >= {"ACK-01", None}
    assert {row["outcome"] for row in store.read(FAULTS).to_pylist()} == {"healed"}
    states = {row["rule"]: row["state"] for row in store.read(REQUIREMENTS).to_pylist()}
    assert states["ACK-01"] == "broken" and "held" in states.values()
    assert store.read(KEPT_ASIDE)["reason"].to_pylist() == ["foreign"]


def test_new_runs_are_added_to_it(store: Store) -> None:
    extended = Store.create(store.address)
    assert extended.add({"runs": [run("new")]}) == {"runs": 1}
    assert extended.read(RUNS).num_rows == 4


def test_values_of_columns_that_an_earlier_store_lacks_are_not_dropped(store: Store) -> None:
    lacks_them = store.version(RUNS) < RUNS.version
    with pytest.raises(StoreError, match=r"lacks .*: `fencepost publish` adds them") if lacks_them else nullcontext():
        store.add({"runs": [run("new", runner="pytest")]})
    assert store.read(RUNS).num_rows == (3 if lacks_them else 4)
