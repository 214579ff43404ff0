"""Spark jobs that a command starts on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Final

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.jvm import require_java

Job = Callable[[Sequence[str]], int]
_NO_JAVA: Final = "Spark needs Java 17 or newer: `java -version` shows the present one"
_NO_JARS: Final = (
    "Spark reads a store at a URL by jars that it does not bring, such as hadoop-aws for s3a://; docs/spark.md says "
    "how to give them to spark-submit. A copy of the store in a folder will do, too"
)


def require_spark() -> None:
    """Raise InfrastructureError without pyspark or Java."""
    if find_spec("pyspark") is None:
        raise InfrastructureError("Spark is not installed, and this command needs it: pip install 'fencepost[mining]'")
    if not os.environ.get("JAVA_HOME"):
        require_java()


def run_on_spark(job: Job, arguments: Sequence[str] = (), runs: Callable[[], int] = lambda: 0) -> int:
    """Run a job's `main` in local mode, with settings for so many runs that Spark reads, and return its exit code.

    InfrastructureError if Spark is missing or fails.
    """
    require_spark()
    # It imports pyspark.
    from fencepost.results.mining.launch import SparkError, launch

    try:
        return launch(job, arguments, runs=runs())
    except SparkError as error:
        hint = _NO_JARS if "No FileSystem for scheme" in str(error) else _NO_JAVA
        raise InfrastructureError(f"{error}\n{hint}") from error
