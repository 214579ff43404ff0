"""Rows that the driver has, as a frame."""

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
