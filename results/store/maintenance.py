"""Look after a store: join small files, let old runs expire, find damage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, QueryBuilder, write_deltalake

from fencepost.results.store.store import Store, StoreError
from fencepost.results.store.tables import KEPT_ASIDE, OF_RUNS, RUNS, TABLES, Table

LAST_RUNS: Final = 20
"""Runs of each test, target and backend that never expire; so many passes in a row close a violation."""
SMALL: Final = 64 * 2**20
"""Bytes of a file below which it is joined with others of its day; what joins them writes files of 100 MB."""
CHUNK: Final = 1_000
"""Runs that one commit removes."""
RETENTION_HOURS: Final = 168
"""Hours for which a removed file stays, for readers of an earlier version of a table (the default of Delta Lake)."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The files of one table before and after."""

    table: str
    before: int
    after: int
    removed: int
    """Files of earlier versions that no reader may need any more, and that were deleted."""


def compact(store: Store) -> Iterator[Compaction]:
    """Join the small files of each table, and delete files that were replaced a week ago. Raise StoreError."""
    for table in TABLES:
        if store.has(table):
            yield _compacted(store, table)


def _compacted(store: Store, table: Table) -> Compaction:
    before = len(store.delta(table).file_uris())
    store.patiently(lambda: join_files(store.delta(table)))
    removed = store.patiently(lambda: store.delta(table).vacuum(RETENTION_HOURS, dry_run=False))
    store.patiently(lambda: store.delta(table).create_checkpoint())
    return Compaction(table.name, before, len(store.delta(table).file_uris()), len(removed))


def join_files(table: DeltaTable) -> None:
    """Write the days that have several small files anew, in one commit on the version that was read.

    Raise CommitFailedError if another writer committed meanwhile. `DeltaTable.optimize.compact` cannot do this: of two
    that overlap, deltalake 1.6.6 commits both, and each row is there twice; it takes no `max_commit_retries` either.
    """
    files = pa.table(table.get_add_actions(flatten=True))
    small = files.filter(pc.less(files["size_bytes"], SMALL))
    counts = small.group_by("partition.date").aggregate([([], "count_all")])
    days = counts.filter(pc.greater(counts["count_all"], 1))["partition.date"].to_pylist()
    if not days:
        return
    where = f"date IN ({_sql(days)})"
    rows = QueryBuilder().register("rows", table).execute(f"SELECT * FROM rows WHERE {where}")
    on_this_version = CommitProperties(max_commit_retries=0)
    write_deltalake(table, rows, mode="overwrite", predicate=where, commit_properties=on_this_version)


@dataclass(frozen=True, slots=True)
class Expiry:
    """The runs older than the limit: those that expire, and those that are kept, by the reason."""

    expired: tuple[tuple[date, str], ...]
    """Day and run_id of each, the oldest first."""
    last: int
    """Kept: among the last runs of their test."""
    evidence: int
    """Kept: evidence of a violation that is open."""


def expiry(store: Store, older_than: timedelta, now: datetime | None = None, last: int = LAST_RUNS) -> Expiry:
    """Return which runs expire.

    A violation is open until the same plan passed later. For a test that is not random, also the last `last` runs with
    a verdict about the target close it, if all of them passed. A planted defect is no evidence. Raise StoreError.
    """
    limit = (now or datetime.now(UTC)) - older_than
    columns = ["date", "run_id", "test", "target", "backend", "verdict", "started_at", "plan_hash", "campaign"]
    runs = store.read(RUNS, [*columns, "left_out"])
    newest_first = runs.take(pc.sort_indices(runs, [("started_at", "descending"), ("run_id", "ascending")]))
    seen: dict[tuple[str, str, str], int] = defaultdict(int)
    passes: dict[tuple[str, str, str], int] = defaultdict(int)
    """Passes since the last other verdict, read from the newest run back; only the newest row of passes counts."""
    row_over: set[tuple[str, str, str]] = set()
    passed_plans: set[tuple[str, str]] = set()
    expired: list[tuple[date, str]] = []
    kept_last = kept_evidence = 0
    for row in _rows(newest_first):
        test = row["test"], row["target"], row["backend"]
        plan = row["target"], row["plan_hash"]
        counts = row["left_out"] is None
        if counts and row["verdict"] == "pass" and test not in row_over:
            passes[test] += 1
        elif counts and row["verdict"] == "violation":
            row_over.add(test)
        closed = (row["plan_hash"] is not None and plan in passed_plans) or (
            row["campaign"] is None and passes[test] >= last
        )
        if counts and row["verdict"] == "pass" and row["plan_hash"] is not None:
            passed_plans.add(plan)
        seen[test] += 1
        if row["started_at"] >= limit:
            continue
        if counts and row["verdict"] == "violation" and not closed:
            kept_evidence += 1
        elif seen[test] <= last:
            kept_last += 1
        else:
            expired.append((row["date"], row["run_id"]))
    return Expiry(tuple(reversed(expired)), kept_last, kept_evidence)


def expire(store: Store, runs: Sequence[tuple[date, str]]) -> None:
    """Remove runs from all tables, from `runs` last: what is ended half way can be done again. Raise StoreError."""
    for first in range(0, len(runs), CHUNK):
        chunk = runs[first : first + CHUNK]
        ids = ", ".join("'" + id.replace("'", "''") + "'" for _, id in chunk)
        days = _sql({day for day, _ in chunk})
        for table in (*OF_RUNS, RUNS):
            if store.has(table):
                _delete(store, table, f"date IN ({days}) AND run_id IN ({ids})")


def _sql(days: Iterable[date]) -> str:
    return ", ".join(f"DATE '{day}'" for day in sorted(days))


def _delete(store: Store, table: Table, where: str) -> None:
    store.patiently(lambda: store.delta(table).delete(where))


@dataclass(frozen=True, slots=True)
class TableState:
    """The state of one table. `version` is that of its schema, 0 without a table. `problems` says what is wrong."""

    table: str
    version: int
    rows: int
    files: int
    problems: tuple[str, ...]


def check(store: Store) -> Iterator[TableState]:
    """Read every row of every table, and yield what was found. Raise StoreError if the store is not reachable."""
    ids = set(store.read(RUNS, ["run_id"])["run_id"].to_pylist()) if store.has(RUNS) else set()
    for table in TABLES:
        if not store.has(table):
            problem = "there is no such table: `fencepost publish` makes it"
            yield TableState(table.name, 0, 0, 0, (problem,))
            continue
        version, files = store.version(table), len(store.delta(table).file_uris())
        try:
            rows = store.read(table)
        except StoreError as error:
            yield TableState(table.name, version, 0, files, (str(error),))
            continue
        yield TableState(table.name, version, rows.num_rows, files, tuple(_problems(table, rows, ids)))


def _problems(table: Table, rows: pa.Table, ids: set[str]) -> Iterator[str]:
    keys = rows.group_by(list(table.key)).aggregate([([], "count_all")])
    if double := rows.num_rows - keys.num_rows:
        yield f"{double} rows have the key of another row"
    for field in table.schema:
        if not field.nullable and (missing := rows[field.name].null_count):
            yield f"{missing} rows have no {field.name}"
    if table not in (RUNS, KEPT_ASIDE):
        orphans = set(pc.unique(rows["run_id"]).to_pylist()) - ids
        if orphans:
            yield (
                f"{len(orphans)} runs are not in the table runs, for example {min(orphans)}: their publication was "
                f"ended half way, publish them again"
            )


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()
