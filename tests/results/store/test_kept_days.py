"""Rows that a job kept of a day count for the data files that they were made of, and for no others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fencepost.results.store.errors import DamagedStore
from fencepost.results.store.kept_days import KeptDays, Part, by_day, digest
from fencepost.results.store.maintenance import compact, expire
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS
from tests.results.store.stores import NOW, run

OLD, NEW = (NOW - timedelta(days=3)).date(), (NOW - timedelta(days=1)).date()
SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            for name, kind in (("date", "date"), ("n", "long"), ("of", "string"))
        ],
    }
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.create(str(tmp_path / "store"))
    made.add({"runs": [run("old", 3), run("old-too", 2.9)]})
    made.add({"runs": [run("new", 1), run("old-later", 3)]})
    return made


def of_days(store: Store) -> dict[date, str]:
    return {day: digest([files]) for day, files in by_day(store.files(RUNS)).items()}


def kept(store: Store) -> KeptDays:
    return KeptDays(store, "counts", 1)


def keep(store: Store, of: dict[date, str], name: str) -> None:
    """Keep one row of each day, in a file of its own, as a job does."""
    parts = []
    for day in of:
        path = Path(kept(store).address) / name / f"day={day}" / "part.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table({"date": [day], "n": [1]}), path)
        parts.append(Part(day, str(path.relative_to(kept(store).address)), path.stat().st_size, 0))
    kept(store).replace(of, parts, SCHEMA)


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (lambda store: store.add({"runs": [run("late", 3)]}), {OLD}),
        (lambda store: store.add({"runs": [run("old", 3)]}), set()),
        (lambda store: expire(store, [(NEW, "new")]), {NEW}),
        (lambda store: list(compact(store)), {OLD}),
    ],
    ids=["publication", "of a known run", "expiry", "compaction"],
)
def test_a_change_of_a_day_gives_it_another_digest_and_no_other_day(
    store: Store, change: Callable[[Store], object], changed: set[date]
) -> None:
    before = of_days(store)
    change(store)
    after = of_days(store)
    assert {day for day in before if before[day] != after.get(day)} == changed


def test_a_store_that_was_moved_has_the_days_that_were_kept(store: Store, tmp_path: Path) -> None:
    keep(store, of_days(store), "first")
    shutil.move(store.name, tmp_path / "moved")
    moved = Store.open(str(tmp_path / "moved"))
    assert set(kept(moved).files()) == set(of_days(moved).items())
    assert all(Path(file).is_file() for files in kept(moved).files().values() for file in files)


def test_a_day_is_replaced_and_the_others_stay(store: Store) -> None:
    keep(store, of_days(store), "first")
    before = kept(store).files()
    store.add({"runs": [run("late", 3)]})
    of = of_days(store)
    keep(store, {OLD: of[OLD]}, "second")
    after = kept(store).files()
    assert set(after) == set(of.items()) and len(of) == 2
    assert after[NEW, of[NEW]] == before[NEW, of[NEW]]
    assert all("/second/" in file for file in after[OLD, of[OLD]])


def test_jobs_that_keep_one_day_at_once_leave_one_of_them(store: Store) -> None:
    of = of_days(store)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: keep(store, of, f"job-{number}"), range(8)))
    assert {key: len(files) for key, files in kept(store).files().items()} == dict.fromkeys(of.items(), 1)


def test_a_kept_file_that_is_gone_is_named(store: Store) -> None:
    keep(store, of_days(store), "first")
    [file, _] = sorted(file for files in kept(store).files().values() for file in files)
    Path(file).unlink()
    with pytest.raises(DamagedStore, match=r"kept/counts-1 is damaged: .* is gone"):
        kept(store).files()


def test_another_version_of_a_job_reads_nothing_of_this_one(store: Store) -> None:
    keep(store, of_days(store), "first")
    assert KeptDays(store, "counts", 2).files() == {}
