"""`fencepost conformance` with a real pytest session; scenarios that the backend skips start no cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fencepost.results.records.folder import Manifest
from tests.harness.cli.conftest import Fencepost
from tests.harness.processes.kill_anywhere import left
from tests.mutants.planting import VARIABLE
from tests.waiting import eventually

SKIPPED = "off-the-network"
"""Two scenarios that need containers."""


def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(fencepost: Fencepost, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for option in ("--json", "--junitxml", "--summary"):
        done = fencepost("conformance", "--runs", str(tmp_path / "runs"), option, str(tmp_path / "folder"))
        assert (done.code, done.out) == (64, "")
        assert f"{option} {tmp_path}/folder cannot be written (Is a directory)" in done.err


@pytest.mark.integration
def test_a_suite_leaves_its_results_for_programs_and_for_readers(fencepost: Fencepost, tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("what an earlier step wrote\n")
    results, junit = tmp_path / "out" / "results.json", tmp_path / "out" / "junit.xml"
    done = fencepost(
        *("conformance", "-k", SKIPPED, "--shard", "2/2", "--runs", str(tmp_path / "runs")),
        *("--json", str(results), "--junitxml", str(junit), "--summary", str(tmp_path / "summary.md")),
    )
    assert done.code == 3, "nothing was judged"
    (kept,) = (tmp_path / "runs").glob("suite-*-quorum-1/results.json")
    assert kept.read_text() == results.read_text()
    saved = json.loads(results.read_text())
    assert (saved["target"], saved["seed"], saved["selection"]) == ("quorum", 1, SKIPPED)
    assert saved["shard"] == "2/2"
    assert [each["scenario"] for each in saved["scenarios"]] == ["off-the-network-leader"], "the other one is in 1/2"
    assert all("--backend docker" in each["skipped"] for each in saved["scenarios"])
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith(
        "what an earlier step wrote\n## ❔ fencepost: inconclusive on quorum 1, process, seed 1, shard 2/2\n"
    )
    assert len(ElementTree.parse(junit).findall(".//skipped")) == 1


def test_an_expression_that_pytest_refuses_is_wrong_usage(fencepost: Fencepost, tmp_path: Path) -> None:
    done = fencepost("conformance", "-k", "cut and", "--runs", str(tmp_path))
    assert (done.code, done.out) == (64, "")
    assert "-k 'cut and' is no expression of names with and, or, not" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--shard", "3/2"), "the shard '3/2' is not I/N"),
        (("--durations", "/no/such.json"), "there is no file or folder /no/such.json for --durations"),
        (("--inconclusive", "pass"), "'pass' is not one of 'error', 'skip'"),
    ],
)
def test_a_wrong_selection_is_refused_before_anything_runs(
    fencepost: Fencepost, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = fencepost("conformance", "--runs", str(tmp_path / "runs"), *arguments)
    assert (done.code, done.out) == (64, "")
    assert message in done.err


@pytest.mark.integration
def test_a_shard_without_a_scenario_is_refused(fencepost: Fencepost, tmp_path: Path) -> None:
    done = fencepost("conformance", "-k", SKIPPED, "--shard", "3/3", "--runs", str(tmp_path))
    assert done.code == 64
    assert "the shard 3/3 has no scenario: use fewer shards" in done.err


@pytest.mark.integration
def test_a_suite_with_a_planted_defect_is_red_and_names_it(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The defect gives an answer that does not depend on time: a record of level 2 is taken before level 2 is on."""
    monkeypatch.setenv(VARIABLE, "")  # so that the defect is not left in this process
    done = fencepost(
        *("conformance", "quorum", "-k", "metadata-format-raised", "--mutant", "level_not_compared"),
        *("--workers", "1", "--runs", str(tmp_path / "runs"), "--json", str(tmp_path / "results.json")),
    )
    assert done.code == 1, done.out
    assert "planted        level_not_compared in 1 run: no verdict about a real build" in done.out
    (saved,) = json.loads((tmp_path / "results.json").read_text())["scenarios"]
    assert (saved["verdict"], saved["planted_defect"]) == ("violation", "level_not_compared")
    (manifest,) = (tmp_path / "runs").glob("*/manifest.json")
    nodes = Manifest.load(manifest).planted_nodes
    assert nodes["node-1"] == nodes["node-4"] == "level_not_compared"


@pytest.mark.integration
def test_a_suite_that_is_interrupted_leaves_its_results_and_nothing_else(tmp_path: Path) -> None:
    runs, results = tmp_path / "runs", tmp_path / "results.json"
    argv = [sys.executable, "-m", "fencepost.harness.cli", "conformance", "-k", "starts-fenced or restart-inside"]
    options = ["-n", "1", "--runs", str(runs), "--json", str(results)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "runtime")}
    with subprocess.Popen([*argv, *options], env=environment, stdout=subprocess.PIPE, text=True) as suite:
        eventually(lambda: list(runs.glob("*/journal.jsonl")), "a run", within=180)
        suite.send_signal(signal.SIGINT)
        said, _ = suite.communicate(timeout=180)
    assert suite.returncode == 128 + signal.SIGINT
    assert "interrupted after 0 of 2 scenarios: ending the clusters" in said
    saved = json.loads(results.read_text())
    assert (saved["interrupted"], saved["verdict"]) == (True, "infrastructure")
    assert [each["verdict"] for each in saved["scenarios"]] == ["infrastructure", None]
    (folder,) = (path.parent for path in runs.glob("*/journal.jsonl"))
    eventually(lambda: left(folder, "process") == [], "processes that were killed have gone")
