"""Start a Spark job on this machine, with settings for thousands of small files, where most time is Spark's own.

The settings switch the UI off, use few partitions, do not compile queries that read a few rows each, and let the JVM
start quickly.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

QUIET_CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
}
CONF = QUIET_CONF | {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.session.timeZone": "UTC",
    # Else Python looks up the calling line for each column that it makes.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC"
"""JVM options that halve its start (C1 only). A job over months of runs is for spark-submit, without these options."""


SMALL = 20_000
"""Runs up to which one partition takes less time than two, whose tasks have to be started and to exchange rows."""
SMALL_CONF = {"spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1"}
LARGE = 300_000
"""Runs from which queries take longer than their planning: then they are compiled, and have more partitions."""
FEWEST_PARTITIONS, RUNS_OF_A_PARTITION = 8, 1_500_000
"""The fewest partitions of a large store, and the runs of one: what a core sorts and groups is to fit into memory."""
LARGE_CONF = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}
LARGE_JVM = "-XX:+UseParallelGC"


CLASS_ARCHIVE = Path(sys.prefix) / "share" / "fencepost" / "spark-classes.jsa"
"""The file in which `class_archive` keeps the classes of Spark for JVMs of small stores."""
QUIET = "-Xlog:disable -Xlog:all=error:stderr"
"""JVM options without which it writes about its archive, and what of it does not fit, on the standard output."""


def submit_arguments(master: str, runs: int = 0, memory: str | None = None, options: str | None = None) -> str:
    """Return the arguments that spark-submit would get for a store with so many runs, 0 if their number is not known.

    `memory` is that of the JVM, such as 6g; by default half of this machine's for many runs, else the JVM decides.
    `options` are of the JVM, by default those for the archive of classes if there is one.
    """
    large = runs >= LARGE
    settings = CONF | (SMALL_CONF if 0 < runs < SMALL else {})
    if large:
        partitions = max(FEWEST_PARTITIONS, runs // RUNS_OF_A_PARTITION)
        settings = CONF | LARGE_CONF | {"spark.sql.shuffle.partitions": str(partitions)}
    conf = " ".join(f"--conf {key}={value}" for key, value in settings.items())
    memory = memory or (f"{max(2, _memory_gb() // 2)}g" if large else None)
    driver = f"--driver-memory {memory} " if memory else ""
    java = LARGE_JVM if large else f"{JVM} {_archive_options() if options is None else options}"
    return f'--master {master} {driver}--driver-java-options "{java}" {conf} pyspark-shell'


def large_history_arguments(memory: str) -> str:
    """Return the arguments that spark-submit would get for one journal beyond memory; `memory` as in `4g`."""
    conf = " ".join(f"--conf {key}={value}" for key, value in QUIET_CONF.items())
    return f"--master local[*] --driver-memory {memory} --driver-java-options {LARGE_JVM} {conf} pyspark-shell"


def _archive_options() -> str:
    if " " in str(CLASS_ARCHIVE) or not CLASS_ARCHIVE.is_file():
        return ""
    return f"-XX:SharedArchiveFile={CLASS_ARCHIVE} -Xshare:auto {QUIET}"


def start_session() -> SparkSession:
    """Return the Spark session, which is started by the first call."""
    return SparkSession.builder.appName("fencepost-trends").getOrCreate()


def _memory_gb() -> int:
    """Return the memory of this machine, GiB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30


LAST_LINES = 8
"""Lines of the JVM's own output that an error shows."""


class SparkError(Exception):
    """Spark did not start, or gave up."""


def launch(job: Callable[[Sequence[str]], int], argv: Sequence[str], *, master: str = "local[2]", runs: int = 0) -> int:
    """Run a job's `main` in this process and return its exit code. PYSPARK_SUBMIT_ARGS is kept if it is set.

    `runs` is the number of runs that the job reads, which decides its settings. The JVM's greetings and warnings are
    shown only if it fails, which raises SparkError.
    """
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", submit_arguments(master, runs))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with tempfile.TemporaryDirectory(prefix="fencepost-trends-") as scratch:
        output = Path(scratch) / "jvm.log"
        try:
            with jvm_errors_into(output):
                return job(argv)
        except (PySparkException, Py4JError) as error:
            said = str(error).splitlines()
            reason = said[0]
            if (
                isinstance(error, Py4JJavaError) and len(said) > 1
            ):  # its first line names a call, the second why it failed
                reason = said[1].removeprefix(": ")
            lines = [f"  | {line}" for line in output.read_text(errors="replace").splitlines()[-LAST_LINES:]]
            raise SparkError("\n".join([f"Spark failed: {reason}", *lines])) from error


@contextmanager
def jvm_errors_into(path: Path) -> Iterator[None]:
    """Let the programs that are started in the block write their errors into a file; Python's own stay where they are.

    The JVM writes before its log4j is configured, so no setting of it stops that.
    """
    sys.stderr.flush()
    ours = os.dup(2)
    before = sys.stderr
    try:
        with path.open("wb") as file:
            os.dup2(file.fileno(), 2)
        if before is sys.__stderr__:
            sys.stderr = os.fdopen(os.dup(ours), "w", buffering=1)
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)
        if sys.stderr is not before:
            sys.stderr.close()
            sys.stderr = before
