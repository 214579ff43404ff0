"""Spark jobs that a command starts on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.jvm import require_java

Job = Callable[[Sequence[str]], int]


def require_spark() -> None:
    """Raise InfrastructureError without pyspark or Java."""
    if find_spec("pyspark") is None:
        raise InfrastructureError("Spark is not installed, and this command needs it: pip install 'fencepost[mining]'")
    if not os.environ.get("JAVA_HOME"):
        require_java()


def run_on_spark(job: Job, arguments: Sequence[str] = (), runs: int = 0) -> int:
    """Run a job's `main` in local mode, with settings for a store with so many runs, and return its exit code.

    InfrastructureError if Spark is missing or fails.
    """
    require_spark()
    # It imports pyspark.
    from fencepost.results.mining.launch import SparkError, launch

    try:
        return launch(job, arguments, runs=runs)
    except SparkError as error:
        raise InfrastructureError(
            f"{error}\nSpark needs Java 17 or newer: `java -version` shows the present one"
        ) from error
