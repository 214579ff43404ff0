"""The archive of Spark's classes: a JVM takes classes from it, and one that it does not fit starts all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.results.mining import launch
from fencepost.results.mining.launch import QUIET, submit_arguments
from tests.results.mining.conftest import SLOW

MAKE = """
import sys
from pathlib import Path
from fencepost.results.mining.class_archive import make
make(Path(sys.argv[1]))
"""
LOOK = "from fencepost.results.mining.launch import start_session; print(start_session().range(3).count())"


@pytest.mark.integration
@SLOW
def test_a_jvm_takes_the_classes_of_spark_from_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In processes of their own: one that has a Spark session starts no second JVM."""
    archive, loaded = tmp_path / "made" / "spark-classes.jsa", tmp_path / "loaded"
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_SUBMIT_ARGS"}
    subprocess.run([sys.executable, "-c", MAKE, archive], env=environment, timeout=600, check=True)
    assert [each.name for each in archive.parent.iterdir()] == [archive.name]
    monkeypatch.setattr(launch, "CLASS_ARCHIVE", archive)
    arguments = submit_arguments("local[1]")
    assert f"-XX:SharedArchiveFile={archive} " in arguments
    environment["PYSPARK_SUBMIT_ARGS"] = arguments.replace(QUIET, f"{QUIET} -Xlog:class+load:file={loaded}")
    looked = subprocess.run(
        [sys.executable, "-c", LOOK], env=environment, timeout=300, check=True, capture_output=True, text=True
    )
    assert looked.stdout == "3\n"
    spark = [line for line in loaded.read_text().splitlines() if " org.apache.spark.sql." in line]
    shared = [line for line in spark if "shared objects file (top)" in line]
    assert len(shared) > len(spark) / 2 > 500  # the JVM makes the classes of lambdas anew


def test_a_jvm_that_the_archive_does_not_fit_starts_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "spark-classes.jsa"
    monkeypatch.setattr(launch, "CLASS_ARCHIVE", archive)
    assert "SharedArchiveFile" not in submit_arguments("local[1]")
    archive.write_bytes(b"no archive" * 1000)
    [options] = [part for part in submit_arguments("local[1]").split('"') if "SharedArchiveFile" in part]
    started = subprocess.run(["java", *options.split(), "-version"], capture_output=True, text=True, timeout=60)
    assert (started.returncode, started.stdout) == (0, "")
    assert "archive" not in started.stderr


def test_a_place_with_a_space_has_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "a space" / "spark-classes.jsa"
    archive.parent.mkdir()
    archive.touch()
    monkeypatch.setattr(launch, "CLASS_ARCHIVE", archive)
    assert "SharedArchiveFile" not in submit_arguments("local[1]")
