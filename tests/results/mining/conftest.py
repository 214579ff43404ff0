"""One Spark session for all tests of a worker."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.launch import submit_arguments


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ["PYSPARK_SUBMIT_ARGS"] = submit_arguments("local[1]")
    session = SparkSession.builder.appName("fencepost-tests").getOrCreate()
    yield session
    session.stop()
