"""`fencepost trends`: all runs, mined with Spark."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.targets.jvm import require_java


def trends(runs: Path, out: Path | None) -> int:
    """Mine the folder of runs; return the exit code of the job.

    UsageError if there is no such folder, InfrastructureError without Spark or Java, or if Spark fails.
    """
    if not runs.exists():
        raise UsageError(f"there is no folder of runs {runs}")
    if find_spec("pyspark") is None:
        raise InfrastructureError("Spark is not installed, and trends need it: pip install 'fencepost[mining]'")
    # The job imports pyspark, which only the extra `mining` installs: not before it was looked for.
    from fencepost.results.mining.launch import SparkError, launch
    from fencepost.results.mining.trends import main

    if not os.environ.get("JAVA_HOME"):
        require_java()
    try:
        return launch(main, [str(runs), *(["--out", str(out)] if out else [])])
    except SparkError as error:
        raise InfrastructureError(
            f"{error}\nSpark needs Java 17 or newer: `java -version` shows the present one"
        ) from error
