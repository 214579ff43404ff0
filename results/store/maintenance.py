"""Look after a store: join small files, let old runs expire."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from fencepost.results.store.commits import ON_READ_VERSION
from fencepost.results.store.store import Store
from fencepost.results.store.tables import OF_RUNS, RUNS, TABLES, Table

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
    store.commit(table, join_files)
    removed = store.commit(table, lambda newest: newest.vacuum(RETENTION_HOURS, dry_run=False))
    store.commit(table, lambda newest: newest.create_checkpoint())
    return Compaction(table.name, before, len(store.delta(table).file_uris()), len(removed))


def join_files(table: DeltaTable) -> None:
    """Write the days that have several small files anew, in one commit on the version that was read.

    Raise CommitFailedError if another writer committed meanwhile. `DeltaTable.optimize.compact` cannot do this: of two
    that overlap, deltalake 1.6.6 commits both, and each row is there twice; it takes no `max_commit_retries` either.
    """
    files = pa.table(table.get_add_actions(flatten=True))
    small = files.filter(pc.less(files["size_bytes"], SMALL))
    counts = small.group_by("partition.date").aggregate([([], "count_all")])
    rewrite(table, counts.filter(pc.greater(counts["count_all"], 1))["partition.date"].to_pylist())


def rewrite(table: DeltaTable, days: Collection[date], rows: str = "rows") -> None:
    """Write some days anew, in one commit on the version that was read; `rows` is a relation of SQL over the table.

    Raise CommitFailedError if another writer committed meanwhile.
    """
    if not days:
        return
    where = f"date IN ({_sql(days)})"
    columns = ", ".join(f'"{field.name}"' for field in table.schema().fields)
    found = QueryBuilder().register("rows", table).execute(f"SELECT {columns} FROM {rows} WHERE {where}")
    write_deltalake(table, found, mode="overwrite", predicate=where, commit_properties=ON_READ_VERSION)


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
    runs = store.read(RUNS, [*columns, "left_out", "report", "attempt", "attempts"])
    order = [("started_at", "descending"), ("attempt", "descending"), ("run_id", "ascending")]
    newest_first = runs.take(pc.sort_indices(runs, order))
    seen: dict[tuple[str, str, str], int] = defaultdict(int)
    passes: dict[tuple[str, str, str], int] = defaultdict(int)
    """Passes since the last other verdict, read from the newest run back; only the newest row of passes counts."""
    row_over: set[tuple[str, str, str]] = set()
    passed_plans: set[tuple[str, str]] = set()
    expired: list[tuple[date, str]] = []
    kept_last = kept_evidence = 0
    kept_runs: set[tuple[str | None, ...]] = set()
    """Runs with several attempts, of which the earlier ones stay as long as the last one does."""
    for row in _rows(newest_first):
        test = row["test"], row["target"], row["backend"]
        if row["attempt"] < (row["attempts"] or 1):
            if (*test, row["report"]) not in kept_runs:
                expired.append((row["date"], row["run_id"]))
            continue
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
        is_old, is_evidence = row["started_at"] < limit, counts and row["verdict"] == "violation" and not closed
        if is_old and not is_evidence and seen[test] > last:
            expired.append((row["date"], row["run_id"]))
            continue
        if row["attempts"]:
            kept_runs.add((*test, row["report"]))
        kept_evidence += is_old and is_evidence
        kept_last += is_old and not is_evidence
    return Expiry(tuple(reversed(expired)), kept_last, kept_evidence)


def expire(store: Store, runs: Sequence[tuple[date, str]]) -> None:
    """Remove runs from all tables, from `runs` last: what is ended half way can be done again. Raise StoreError."""
    for first in range(0, len(runs), CHUNK):
        of_day: dict[date, list[str]] = defaultdict(list)
        for day, name in runs[first : first + CHUNK]:
            of_day[day].append("'" + name.replace("'", "''") + "'")
        where = " OR ".join(f"(date = DATE '{day}' AND run_id IN ({', '.join(ids)}))" for day, ids in of_day.items())
        for table in (*OF_RUNS, RUNS):
            if store.has(table):
                _delete(store, table, where)


def _sql(days: Iterable[date]) -> str:
    return ", ".join(f"DATE '{day}'" for day in sorted(days))


def _delete(store: Store, table: Table, where: str) -> None:
    store.commit(table, lambda newest: newest.delete(where, commit_properties=ON_READ_VERSION))


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()
