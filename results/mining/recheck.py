"""The data-plane checks over one journal, on any Spark."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from fencepost.results.mining.data_checks import CHECKS, summary
from fencepost.results.mining.histories import read_histories

LOCAL = "--master local[*] --driver-memory {memory} --driver-java-options -XX:+UseParallelGC"
CONF: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
}


@dataclass(frozen=True)
class Checked:
    """The rows of `summary` of all checks, the topics that are left out, and the number of unreadable lines."""

    checks: tuple[Mapping[str, Any], ...]
    left_out: tuple[str, ...]
    unreadable: int


def large_history_arguments(memory: str) -> str:
    """Return the arguments that spark-submit would get for a large history on this machine; `memory` as in `4g`.

    Those of `launch` are for small frames: queries are not compiled, and shuffles have two partitions.
    """
    conf = " ".join(f"--conf {key}={value}" for key, value in CONF.items())
    return f"{LOCAL.format(memory=memory)} {conf} pyspark-shell"


def check_journal(spark: SparkSession, journal: str) -> Checked:
    """Run all checks over a journal at a path or URL. One row for each check comes back to the driver."""
    histories = read_histories(spark, journal)
    # Sends and reads are parsed once; what does not fit into memory goes to disk.
    for frame in (histories.sends, histories.reads):
        frame.persist()
    summaries = [summary(name, check(histories)) for name, (_, check) in CHECKS.items()]
    every: DataFrame = reduce(DataFrame.unionByName, summaries)
    rows = {row["check"]: row.asDict(recursive=True) for row in every.collect()}
    left_out = tuple(sorted(row["topic"] for row in histories.left_out.collect()))
    (lines,) = histories.lines.collect()
    return Checked(tuple(rows[name] for name in CHECKS), left_out, lines["unreadable"])
