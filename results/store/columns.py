"""Columns of the tables of the store: a name, an Arrow type, and a description for the data dictionary."""

from typing import Final

import pyarrow as pa

COMMENT: Final = "comment"
"""The key of a field's metadata that has its description; Delta Lake shows it as the comment of the column."""

TEXT: Final = pa.string()
TEXTS: Final = pa.list_(pa.string())
INTEGER: Final = pa.int64()
NUMBER: Final = pa.float64()
FLAG: Final = pa.bool_()
DATE: Final = pa.date32()
TIME: Final = pa.timestamp("us", "UTC")


def column(name: str, kind: pa.DataType, description: str) -> pa.Field:
    """Return a column that may be null."""
    return pa.field(name, kind, metadata={COMMENT: description})


def required(name: str, kind: pa.DataType, description: str) -> pa.Field:
    """Return a column that is never null."""
    return pa.field(name, kind, nullable=False, metadata={COMMENT: description})


def description(field: pa.Field) -> str:
    """Return the description of a column."""
    comment: bytes = (field.metadata or {}).get(COMMENT.encode(), b"")
    return comment.decode()


RUN: Final = (
    required("date", DATE, "Day on which the run started, UTC. All tables are partitioned by it."),
    required("run_id", TEXT, "Identity of the run in all tables: the same for each publication of the same run."),
    required("test", TEXT, "Identity of the test, constant over its runs. All random plans are one test."),
    required("target", TEXT, "Name of the target; of imported results the name that was given, else `unknown`."),
    column("release", TEXT, "Release of the target, such as `3.9.1`."),
    column(
        "build",
        TEXT,
        "Digest of the programs of the target, else its commit; of imported results the commit that was tested.",
    ),
    required("backend", TEXT, "`process` or `docker`; `none` for imported results."),
    required("verdict", TEXT, "Verdict of the run: `pass`, `violation`, `infrastructure` or `inconclusive`."),
    required("started_at", TIME, "Time at which the run started."),
)
"""The columns with which each table begins that has facts of runs."""

ROW: Final = required("row", INTEGER, "Number of the row among those of its run in this table, from 0.")
