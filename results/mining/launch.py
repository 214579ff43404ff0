"""Starts a job on this machine alone, with settings for thousands of small files: most time is Spark's own.

No UI, few partitions, no compiling of queries that look at a few rows each, a JVM that starts quickly.
"""

import os
from collections.abc import Callable, Sequence

CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
}
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC"
"""C1 alone halves the start; a job over months of runs belongs to spark-submit, without this."""


def submit_arguments(master: str) -> str:
    """What spark-submit would have been given."""
    conf = " ".join(f"--conf {key}={value}" for key, value in CONF.items())
    return f'--master {master} --driver-java-options "{JVM}" {conf} pyspark-shell'


def launch(job: Callable[[Sequence[str]], int], argv: Sequence[str], *, master: str = "local[2]") -> int:
    """Run a job's `main` in this process. Settings that the environment already has are left alone."""
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", submit_arguments(master))
    return job(argv)
