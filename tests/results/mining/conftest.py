"""One Spark session for all tests of a worker, and the mark of tests that only the nightly run has time for."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.launch import submit_arguments

SLOW = pytest.mark.skipif(
    "FENCEPOST_TEST_MINING" not in os.environ,
    reason="it takes minutes of the processor: set FENCEPOST_TEST_MINING=1",
)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ["PYSPARK_SUBMIT_ARGS"] = submit_arguments("local[1]")
    session = SparkSession.builder.appName("fencepost-tests").getOrCreate()
    yield session
    session.stop()
