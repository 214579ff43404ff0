"""The declared tables of the store."""

import pyarrow as pa
import pytest
from pyspark.sql.types import ArrayType, DateType, StringType, TimestampType

from fencepost.results.mining.jobs import spark_schema
from fencepost.results.store.tables import OF_RUNS, RUN, TABLES, Table, description, table


@pytest.mark.parametrize("each", TABLES, ids=lambda each: each.name)
def test_each_column_is_described_once(each: Table) -> None:
    assert len(set(each.schema.names)) == len(each.schema)
    assert [field.name for field in each.schema if not description(field)] == []


@pytest.mark.parametrize("each", TABLES, ids=lambda each: each.name)
def test_the_key_of_a_table_is_never_null_and_begins_with_the_partition(each: Table) -> None:
    assert each.key[0] == "date"
    assert not any(each.schema.field(name).nullable for name in each.key)


@pytest.mark.parametrize("each", OF_RUNS, ids=lambda each: each.name)
def test_each_table_of_runs_repeats_the_columns_by_which_runs_are_grouped(each: Table) -> None:
    assert tuple(each.schema)[: len(RUN)] == RUN


def test_the_schemas_convert_to_those_of_spark() -> None:
    for each in TABLES:
        converted = spark_schema(each)
        assert converted.names == each.schema.names
        assert isinstance(converted["date"].dataType, DateType)
    runs = spark_schema(table("runs"))
    assert isinstance(runs["started_at"].dataType, TimestampType)
    assert runs["features"].dataType == ArrayType(StringType())
    assert not runs["run_id"].nullable and runs["release"].nullable


def test_no_column_has_a_type_that_delta_lake_lacks() -> None:
    allowed = {pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("us", "UTC")}
    allowed |= {pa.list_(pa.string()), pa.map_(pa.string(), pa.string())}
    assert {field.type for each in TABLES for field in each.schema} <= allowed
