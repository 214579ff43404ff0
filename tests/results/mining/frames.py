"""Small frames of the store's tables, written as rows of what matters in a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from fencepost.results.mining.driver_rows import with_dictionaries
from fencepost.results.store.tables import Table

START = datetime(2026, 11, 2, tzinfo=UTC)
"""A Monday."""
DEFAULTS = {
    "test": "kip_631/cut",
    "target": "quorum",
    "backend": "process",
    "verdict": "pass",
    "build": "b1",
    "plan_hash": "p1",
    "commit": "c1",
}


def frame(spark: SparkSession, table: Table, rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Return a frame of a table. Each row starts one minute after the row before, unless it says otherwise."""
    names = set(table.schema.names)
    filled = []
    for number, row in enumerate(rows):
        if unknown := set(row) - names:
            raise KeyError(f"{table.name} has no column {', '.join(sorted(unknown))}")
        started = row.get("started_at", START + timedelta(minutes=number))
        known = DEFAULTS | {"run_id": f"r{number}", "started_at": started, "date": started.date()} | dict(row)
        filled.append({name: known.get(name) for name in table.schema.names})
    nullable = pa.schema([field.with_nullable(True) for field in table.schema])
    return spark.createDataFrame(pa.Table.from_pylist(filled, schema=nullable))


def rows(made: DataFrame) -> pa.Table:
    """Return the rows of a frame as those of a day come to the jobs."""
    return with_dictionaries(made.toArrow())


def verdicts(text: str, **columns: Any) -> list[dict[str, Any]]:
    """Return a row for each letter: p(ass), v(iolation), i(nfrastructure), u (inconclusive, unclear)."""
    names = {"p": "pass", "v": "violation", "i": "infrastructure", "u": "inconclusive"}
    return [{"verdict": names[letter], **columns} for letter in text]


def attempts(text: str, **columns: Any) -> list[dict[str, Any]]:
    """Return a row for each attempt of one run, by the letters of `verdicts`."""
    many = len(text) if len(text) > 1 else None
    return [
        row | {"attempt": number, "attempts": many} for number, row in enumerate(verdicts(text, **columns), start=1)
    ]
