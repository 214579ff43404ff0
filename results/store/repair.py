"""Take out of a store what it has twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from fencepost.results.store.doubles import COLUMNS, copies
from fencepost.results.store.maintenance import expire, rewrite
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS, TABLES


@dataclass(frozen=True, slots=True)
class Repair:
    """The rows of one table that were taken out."""

    table: str
    rows: int


def repair(store: Store) -> Iterator[Repair]:
    """Keep one row of each key, and each imported run once; yield the tables that had more. Raise StoreError."""
    present = [table for table in TABLES if store.has(table)]
    before = {table.name: store.rows(table) for table in present}
    for table in present:
        store.commit(table, partial(_keep_one_of_each, key=table.key))
    expire(store, sorted(copies(store.read(RUNS, COLUMNS))))
    for table in present:
        if removed := before[table.name] - store.rows(table):
            yield Repair(table.name, removed)


def _keep_one_of_each(newest: DeltaTable, key: tuple[str, ...]) -> None:
    """Write the days anew that have rows with one key. Raise CommitFailedError if another writer came first."""
    columns = ", ".join(key)
    double = f"SELECT date FROM rows GROUP BY {columns} HAVING count(*) > 1"
    days = pa.table(QueryBuilder().register("rows", newest).execute(f"SELECT DISTINCT date FROM ({double})"))
    numbered = f"(SELECT *, row_number() OVER (PARTITION BY {columns} ORDER BY date) AS double_number FROM rows)"
    rewrite(newest, days["date"].to_pylist(), f"(SELECT * FROM {numbered} WHERE double_number = 1)")
