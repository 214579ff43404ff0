"""A published history of an industrial suite, imported and mined whole: the job of a night that has the file."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

HISTORY = os.environ.get("FENCEPOST_TEST_HISTORY", "")
"""The file `iofrol.csv` of the data of RETECS: two years of the tests of a controller of industrial robots."""
PUBLISHED = {"attempts": 32_260, "tests": 1_941}
CYCLES = 320


@pytest.mark.integration
@pytest.mark.skipif(not HISTORY, reason="FENCEPOST_TEST_HISTORY names no file")
def test_the_history_has_the_published_size_and_the_failures_of_its_lines(tmp_path: Path) -> None:
    store = str(tmp_path / "store")

    def fencepost(*words: str) -> dict[str, int]:
        command = [str(Path(sys.executable).with_name("fencepost")), *words, "--json"]
        return dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))

    imported = fencepost("results", "import", "retecs", HISTORY, "--to", store, "--time-zone", "Europe/Oslo")
    mined = fencepost("trends", store)
    with Path(HISTORY).open(newline="") as file:
        lines = sorted(csv.DictReader(file, delimiter=";"), key=lambda each: (each["Cycle"], each["Name"]))
    assert imported["added"] == PUBLISHED["attempts"] and len({each["Cycle"] for each in lines}) == CYCLES
    assert {name: mined[name] for name in PUBLISHED} == PUBLISHED
    assert mined["violations"] == sum(each["Verdict"] == "1" for each in lines)
    runs = 0
    for _, executions in groupby(lines, key=lambda each: (each["Cycle"], each["Name"])):
        verdicts = [each["Verdict"] for each in sorted(executions, key=lambda each: each["LastRun"])]
        runs += verdicts.count("0") + (verdicts[-1] == "1")
    assert mined["runs"] == runs
