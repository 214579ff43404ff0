"""The schemas of the store as Spark has them."""

from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from fencepost.results.store.tables import Table


def spark_schema(table: Table) -> StructType:
    """Return the schema of a table for `spark.read.schema` and `createDataFrame`; times are instants (UTC)."""
    return from_arrow_schema(table.schema, prefer_timestamp_ntz=False)
