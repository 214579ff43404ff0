"""The declared shapes of what runs leave behind. Inferring them would read everything twice.

Of a finding and of an event's data only the fields that are mined are declared; Spark skips the others unparsed.
"""

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

CORRUPT: Final = "_corrupt_record"


def _struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])


_TEXT, _LONG, _DOUBLE = StringType(), LongType(), DoubleType()
_TEXTS = MapType(_TEXT, _TEXT)

MANIFEST: Final = _struct(
    run=_TEXT,
    story=_TEXT,
    target=_TEXT,
    target_version=_TEXT,
    backend=_TEXT,
    seed=_LONG,
    plan_hash=_TEXT,
    started=_DOUBLE,
    commit=_TEXT,
    versions=_TEXTS,
    machine=_TEXTS,
    hashes=_TEXTS,
    format=_TEXT,
    **{CORRUPT: _TEXT},
)

FINDING: Final = _struct(
    verdict=_TEXT,
    check=_TEXT,
    title=_TEXT,
    sentence=_TEXT,
    requirement=_TEXT,
    level=_TEXT,
    difference=_TEXT,
    at=_DOUBLE,
    basis=_TEXT,
    evidence=_struct(judged=_LONG),
)

VERDICT: Final = _struct(
    format=_TEXT,
    verdict=_TEXT,
    exit_code=IntegerType(),
    headline=_TEXT,
    story=_TEXT,
    target=_TEXT,
    plan_hash=_TEXT,
    duration=_DOUBLE,
    events=_LONG,
    torn=_LONG,
    findings=ArrayType(FINDING),
    **{CORRUPT: _TEXT},
)

EVENT: Final = _struct(
    seq=_LONG,
    t=_DOUBLE,
    wall=_DOUBLE,
    type=_TEXT,
    id=_TEXT,
    phase=_TEXT,
    node=_TEXT,
    data=_struct(outcome=_TEXT),
    **{CORRUPT: _TEXT},
)
