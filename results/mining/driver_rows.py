"""Rows that the driver has, as a frame, and back."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession


def frame_of(spark: SparkSession, types: Mapping[str, pa.DataType], rows: Sequence[Sequence[Any]]) -> DataFrame:
    """Return rows as a frame whose columns have these names and types.

    By way of Arrow, which the JVM reads: of a list Spark starts processes of Python, also on its executors.
    """
    columns = zip(*rows, strict=True) if rows else ((),) * len(types)
    arrays = [pa.array(values, of) for values, of in zip(columns, types.values(), strict=True)]
    return spark.createDataFrame(pa.Table.from_arrays(arrays, names=list(types)))


def with_dictionaries(rows: pa.Table) -> pa.Table:
    """Return rows whose texts are dictionaries, as those are that a store reads from its files."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = rows[field.name].cast(pa.string()).dictionary_encode()
            rows = rows.set_column(place, field.name, texts)
    return rows


def as_frame(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Return rows of Arrow as a frame."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            rows = rows.set_column(place, field.name, rows[field.name].cast(field.type.value_type))
    return spark.createDataFrame(rows)
