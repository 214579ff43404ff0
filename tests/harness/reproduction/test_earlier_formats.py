"""Runs that were written in earlier formats are still read and judged as they were.

The archives in `earlier_runs/` were made at format 1: the keys `story` and `sentence`, the check `story`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fencepost.harness.plan import dump_plan, load_plan
from fencepost.harness.reproduction.rechecking import recheck
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.formats import MANIFEST_FORMAT, PLAN_FORMAT
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import RunVerdict, Verdict

ARCHIVES = Path(__file__).with_name("earlier_runs")
RUNS = {
    "quorum-pass": Verdict.PASS,
    "zk-controller-pass": Verdict.PASS,
    "leader-driven-difference": Verdict.PASS,
    "quorum-violation": Verdict.VIOLATION,
}


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> RunFolder:
    shutil.unpack_archive(ARCHIVES / f"{request.param}.tar.xz", tmp_path)
    return RunFolder.open(tmp_path / request.param)


@pytest.mark.parametrize(("folder", "verdict"), RUNS.items(), indirect=["folder"])
def test_a_run_of_format_1_is_judged_as_it_was(folder: RunFolder, verdict: Verdict) -> None:
    again = recheck(folder)
    assert again.then is not None
    assert again.then.verdict is again.now.verdict is verdict
    assert (again.dropped, again.notes) == ((), ())
    assert all(finding.verdict is Verdict.PASS for finding in again.added), "a checker that came later may pass"


@pytest.mark.parametrize("folder", ["quorum-violation"], indirect=True)
def test_what_a_file_of_format_1_says_is_found_under_the_present_names(folder: RunFolder) -> None:
    plan = load_plan(folder.plan)
    begin, *_ = read_journal(folder.journal).of("run", "begin")
    assert plan.scenario == "cut-from-controllers-cut" == begin.data["scenario"]
    assert plan.scenario == Manifest.load(folder.manifest).scenario == RunVerdict.load(folder.verdict).scenario
    assert Manifest.load(folder.manifest).format == MANIFEST_FORMAT
    assert dump_plan(plan).startswith(f"format: {PLAN_FORMAT}\n")


@pytest.mark.parametrize("folder", ["quorum-pass"], indirect=True)
def test_a_run_without_the_logs_of_its_nodes_is_inconclusive(folder: RunFolder) -> None:
    shutil.rmtree(folder.nodes)
    again = recheck(folder)
    assert (again.same, again.now.verdict) == (False, Verdict.INCONCLUSIVE)
    assert {finding.requirement for finding in again.added} >= {
        "SEG-01",
        "SEG-02",
        "SEG-03",
        "SEG-04",
        "SEG-05",
        "HW-03",
    }
    assert "The folders of the nodes are missing: the logs of replicas are not judged." in again.notes
