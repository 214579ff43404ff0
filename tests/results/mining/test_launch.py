"""How a Spark job is started: its JVM is silent unless it fails."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.errors import PySparkRuntimeError

from fencepost.harness.cli.commands.store import TrendsOptions
from fencepost.harness.cli.trends import trends
from fencepost.harness.errors import InfrastructureError
from fencepost.results.mining.launch import LARGE, SparkError, launch, submit_arguments
from fencepost.results.records.verdict import Verdict
from fencepost.results.store.store import Store


def greet(argv: Sequence[str]) -> int:
    """Start a program that writes as a JVM does, and write an error of our own."""
    subprocess.run(["sh", "-c", "echo incubator modules >&2"], check=True)
    print("our own error", file=sys.stderr)
    return 7


def give_up(argv: Sequence[str]) -> int:
    greet(argv)
    raise PySparkRuntimeError("Java gateway process exited\nsecond line")


def test_a_job_that_succeeds_shows_only_our_own_errors(capfd: pytest.CaptureFixture[str]) -> None:
    assert launch(greet, []) == 7
    os.write(2, b"and after it\n")
    assert capfd.readouterr().err == "our own error\nand after it\n"


def test_a_job_that_fails_shows_the_last_words_of_its_jvm() -> None:
    with pytest.raises(SparkError, match=r"^Spark failed: Java gateway process exited\n  \| incubator modules$"):
        launch(give_up, [])


def test_without_java_the_message_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    store = Store.create(str(tmp_path / "store")).name
    with pytest.raises(InfrastructureError, match="there is no java on the PATH: apt-get install"):
        trends(TrendsOptions(store))


@pytest.mark.integration
def test_a_java_that_does_not_start_is_one_message(tmp_path: Path) -> None:
    """In a process of its own: one that has a Spark session starts no second Java."""
    store = Store.create(str(tmp_path / "store")).name
    command = [sys.executable, "-m", "fencepost.harness.cli", "trends", store]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == Verdict.INFRASTRUCTURE.exit_code
    assert re.match(r"fencepost: Spark failed: .*\n(?s:.*)Spark needs Java 17 or newer", done.stderr)


@pytest.mark.integration
def test_a_store_that_spark_has_no_jars_for_says_so(tmp_path: Path) -> None:
    """In a process of its own, as above. Spark asks for the scheme before it connects."""
    code = (
        "from fencepost.harness.cli.spark import run_on_spark\n"
        "from pyspark.sql import SparkSession\n"
        "run_on_spark(lambda _: SparkSession.builder.getOrCreate().read.parquet('s3://127.0.0.1/runs').count())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert 'No FileSystem for scheme "s3"' in done.stderr and "docs/spark.md" in done.stderr


def test_only_a_large_store_has_compiled_queries_and_more_memory() -> None:
    small, large = submit_arguments("local[2]", 1_000), submit_arguments("local[2]", LARGE)
    assert "spark.sql.shuffle.partitions=1 " in small
    assert "spark.sql.shuffle.partitions=2 " in submit_arguments("local[2]", 50_000)
    assert "spark.sql.shuffle.partitions=2 " in submit_arguments("local[2]"), "the number of runs is not known"
    assert "spark.sql.shuffle.partitions=8 " in large
    assert "spark.sql.shuffle.partitions=66 " in submit_arguments("local[2]", 100_000_000)
    assert "wholeStage=false" in small and "TieredStopAtLevel" in small and "driver-memory" not in small
    assert "wholeStage=true" in large and "TieredStopAtLevel" not in large and "--driver-memory" in large
