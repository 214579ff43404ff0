"""The schemas of the files of runs. Spark would read every file twice to infer them.

Only the mined fields of a finding and of an event's data are declared; Spark skips the others without parsing them.
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

from fencepost.results.records.formats import RENAMED_KEYS

CORRUPT: Final = "_corrupt_record"


def _struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])


_TEXT, _LONG, _DOUBLE = StringType(), LongType(), DoubleType()
_TEXTS = MapType(_TEXT, _TEXT)

EARLIER_NAMES: Final = {present: earlier for earlier, present in RENAMED_KEYS.items()}
"""The column of format 1 for each renamed column; `tables` reads its values into the present column."""
EARLIER_RUN: Final[dict[str, DataType]] = {EARLIER_NAMES["scenario"]: _TEXT}
EARLIER_FINDING: Final[dict[str, DataType]] = {EARLIER_NAMES["message"]: _TEXT}

MANIFEST: Final = _struct(
    run=_TEXT,
    scenario=_TEXT,
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
    programs=_TEXTS,
    target_digest=_TEXT,
    target_commit=_TEXT,
    planted_defect=_TEXT,
    planted_nodes=_TEXTS,
    ci=_TEXTS,
    format=_TEXT,
    **EARLIER_RUN,
    **{CORRUPT: _TEXT},
)

FINDING: Final = _struct(
    verdict=_TEXT,
    check=_TEXT,
    title=_TEXT,
    message=_TEXT,
    requirement=_TEXT,
    also=ArrayType(_TEXT),
    part_of=_TEXT,
    level=_TEXT,
    difference=_TEXT,
    at=_DOUBLE,
    basis=_TEXT,
    evidence=_struct(judged=_LONG),
    **EARLIER_FINDING,
)

REQUIREMENT: Final = _struct(id=_TEXT, state=_TEXT, says=_TEXT, document=_TEXT, section=_TEXT, url=_TEXT)

VERDICT: Final = _struct(
    format=_TEXT,
    verdict=_TEXT,
    exit_code=IntegerType(),
    headline=_TEXT,
    scenario=_TEXT,
    target=_TEXT,
    plan_hash=_TEXT,
    duration=_DOUBLE,
    events=_LONG,
    torn=_LONG,
    planted_defect=_TEXT,
    findings=ArrayType(FINDING),
    requirements=ArrayType(REQUIREMENT),
    **EARLIER_RUN,
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
