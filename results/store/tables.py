"""The tables of the store: names, versions and keys, and the schemas that follow from the classes of their rows."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

import pyarrow as pa

from fencepost.results.store import rows

COMMENT: Final = "comment"
"""The key of a field's metadata that has its description; Delta Lake shows it as the comment of the column."""
_TYPES: Final = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    dt.date: pa.date32(),
    dt.datetime: pa.timestamp("us", "UTC"),
    Sequence[str]: pa.list_(pa.string()),
    Mapping[str, str]: pa.map_(pa.string(), pa.string()),
}


Row = dict[str, Any]
"""A row by the names of its columns, as the store takes it; a column that it lacks is null."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the store. `row` is the class of its rows.

    `key` names the columns that identify a row: publishing it again adds no row.
    """

    name: str
    version: int
    row: type
    schema: pa.Schema
    key: tuple[str, ...]

    @property
    def about(self) -> str:
        return " ".join((self.row.__doc__ or "").split())


def column(name: str, hint: object) -> pa.Field:
    """Return the column of a field that is annotated with its type and its description; with None it may be null."""
    annotated, description = get_args(hint)
    kinds = set(get_args(annotated)) if NoneType in get_args(annotated) else {annotated}
    [kind] = kinds - {NoneType}
    return pa.field(name, _TYPES[kind], nullable=NoneType in kinds, metadata={COMMENT: description})


def _columns(row: type) -> tuple[pa.Field, ...]:
    hints = get_type_hints(row, include_extras=True)
    return tuple(column(field.name, hints[field.name]) for field in fields(row))


def description(field: pa.Field) -> str:
    comment: bytes = (field.metadata or {}).get(COMMENT.encode(), b"")
    return comment.decode()


RUN: Final = _columns(rows.RunColumns)
"""The columns with which each table begins that has facts of runs."""
_ROW: Final = pa.field(
    "row",
    pa.int64(),
    nullable=False,
    metadata={COMMENT: "Number of the row among those of its run in this table, from 0."},
)


def _of_runs(name: str, row: type) -> Table:
    return Table(name, 1, row, pa.schema([*RUN, _ROW, *_columns(row)]), ("date", "run_id", "row"))


RUNS: Final = Table("runs", 4, rows.RunRow, pa.schema([*RUN, *_columns(rows.RunRow)]), ("date", "run_id"))
FINDINGS: Final = _of_runs("findings", rows.FindingRow)
FAULTS: Final = _of_runs("faults", rows.FaultRow)
STATE_CHANGES: Final = _of_runs("state_changes", rows.StateChangeRow)
TIMINGS: Final = _of_runs("timings", rows.TimingRow)
LATENCIES: Final = _of_runs("latencies", rows.LatencyRow)
LOG_SIGNATURES: Final = _of_runs("log_signatures", rows.LogSignatureRow)
REQUIREMENTS: Final = _of_runs("requirements", rows.RequirementRow)
PLANS: Final = _of_runs("plans", rows.PlanRow)
KEPT_ASIDE: Final = Table("kept_aside", 1, rows.KeptAsideRow, pa.schema(_columns(rows.KeptAsideRow)), ("date", "id"))

OF_RUNS: Final = (FINDINGS, FAULTS, STATE_CHANGES, TIMINGS, LATENCIES, LOG_SIGNATURES, REQUIREMENTS, PLANS)
"""The tables with facts of runs, apart from `runs`."""
TABLES: Final = (RUNS, *OF_RUNS, KEPT_ASIDE)


def stored(row: Any) -> Row:
    return {field.name: getattr(row, field.name) for field in fields(row)}


def stored_run(columns: rows.RunColumns, run: rows.RunRow, facts: Iterable[Any]) -> dict[str, list[Row]]:
    """Return the rows of one run by the names of their tables; those of each table are numbered in their order."""
    first = stored(columns)
    names = {each.row: each.name for each in OF_RUNS}
    of: dict[str, list[Row]] = {RUNS.name: [first | stored(run)], **{name: [] for name in names.values()}}
    for fact in facts:
        table_rows = of[names[type(fact)]]
        table_rows.append({**first, "row": len(table_rows), **stored(fact)})
    return of


def table(name: str) -> Table:
    """Return the table with this name. Raise KeyError."""
    return {each.name: each for each in TABLES}[name]
