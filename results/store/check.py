"""Read every row of a store, and say what is damaged, double, or half published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from fencepost.results.store.doubles import copies
from fencepost.results.store.errors import DamagedStore, StoreError
from fencepost.results.store.store import Store
from fencepost.results.store.tables import KEPT_ASIDE, RUNS, TABLES, Table


@dataclass(frozen=True, slots=True)
class TableState:
    """The state of one table. `version` is that of its schema, 0 without a table. `problems` says what is wrong.

    `is_damaged` says that files are, which no command can mend; `is_double`, that `results check --repair` can.
    """

    table: str
    version: int
    rows: int
    files: int
    problems: tuple[str, ...]
    is_damaged: bool = False
    is_double: bool = False


def check(store: Store) -> Iterator[TableState]:
    """Yield what was found in each table. Raise StoreError if the store is not reachable."""
    ids: set[str] | None = None
    for table in TABLES:  # `runs` is the first
        if not store.has(table):
            problem = "there is no such table: `fencepost publish` makes it"
            yield TableState(table.name, 0, 0, 0, (problem,))
            continue
        try:
            newest = store.delta(table)
            version, files = store.version(table), len(newest.file_uris())
        except StoreError as error:
            yield TableState(table.name, 0, 0, 0, (str(error),))
            continue
        try:
            rows = store.read(table)
        except DamagedStore as error:
            yield TableState(table.name, version, 0, files, error.files, is_damaged=True)
            continue
        except StoreError as error:
            yield TableState(table.name, version, 0, files, (str(error),))
            continue
        if table is RUNS:
            ids = set(rows["run_id"].to_pylist())
        double = tuple(_doubles(table, rows))
        problems = (*double, *_problems(table, rows, ids))
        yield TableState(table.name, version, rows.num_rows, files, problems, is_double=bool(double))


def _doubles(table: Table, rows: pa.Table) -> Iterator[str]:
    keys = rows.group_by(list(table.key)).aggregate([([], "count_all")])
    if double := rows.num_rows - keys.num_rows:
        yield f"{double} rows have the key of another row: `fencepost results check --repair` removes them"
    if table is RUNS and (found := copies(rows)):
        names = sorted(name for _, name in found)
        yield (
            f"{len(found)} runs are there a second time, for example {names[0]}, from reports that were imported "
            f"again: `fencepost results check --repair` removes them"
        )


def _problems(table: Table, rows: pa.Table, ids: set[str] | None) -> Iterator[str]:
    for field in table.schema:
        if not field.nullable and (missing := rows[field.name].null_count):
            yield f"{missing} rows have no {field.name}"
    if table not in (RUNS, KEPT_ASIDE) and ids is not None:
        orphans = set(pc.unique(rows["run_id"]).to_pylist()) - ids
        if orphans:
            yield (
                f"{len(orphans)} runs are not in the table runs, for example {min(orphans)}: their publication was "
                f"ended half way, publish them again"
            )
