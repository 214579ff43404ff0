"""The tables of a store as Spark has them.

Spark's own `delta` format needs jars that exist for some of its releases only, so the driver asks the log of a table
which files its newest version has, and Spark reads those.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from fencepost.results.store.store import Store
from fencepost.results.store.tables import Table


def spark_schema(table: Table) -> StructType:
    """Return the schema of a table for `spark.read.schema` and `createDataFrame`; times are instants (UTC)."""
    return from_arrow_schema(table.schema, prefer_timestamp_ntz=False)


def spark_frame(spark: SparkSession, store: Store, table: Table) -> DataFrame:
    """Return the newest version of a table, with the present columns; those of a later version than it has are null.

    Executors read the files at the address of the store, so they need to reach it. Raise StoreError.
    """
    schema = spark_schema(table)
    files = store.delta(table).file_uris() if store.has(table) else []
    if not files:
        return spark.createDataFrame([], schema)
    # Without the schema Spark would read the end of each file to infer it.
    frame = spark.read.schema(schema).option("basePath", store.at(table)).parquet(*files)
    return frame.select(*schema.names)
