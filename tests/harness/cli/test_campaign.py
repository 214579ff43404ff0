"""`fencepost campaign` with real clusters, healthy and with a planted defect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.plan import load_plan
from fencepost.harness.targets.registry import VARIABLE as TARGETS
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.verdict import RunVerdict, Verdict
from tests.harness.cli.conftest import Done, Fencepost
from tests.harness.seeds import seed_of_a_plan_that_expects
from tests.mutants.planting import VARIABLE

LINKS_AND_KILL = """\
name: without-disks
extends: quorum
title: the reference cluster, design quorum, links and kill -9 alone
capabilities: [links, kill]
"""
"""Every machine has these capabilities. One that lacks a capability, such as disks without /dev/fuse, draws other plans
from a seed."""


@pytest.mark.integration
def test_a_random_plan_passes_on_healthy_nodes_and_is_red_on_nodes_with_a_planted_defect(
    fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan commits an offset with more metadata than a broker allows. With the defect the broker takes it."""
    for left_in_this_process in (VARIABLE, TARGETS):
        monkeypatch.setenv(left_in_this_process, "")
    target = tmp_path / "without-disks.yaml"
    target.write_text(LINKS_AND_KILL)
    seed = str(seed_of_a_plan_that_expects("error:12", str(target)))
    one = ["campaign", str(target), "--plans", "1", "--seed", seed, "--workers", "1", "--runs", str(tmp_path)]
    written, folder = one_plan(fencepost(*one, "--json"))
    assert (written["verdict"], written["exit_code"]) == ("pass", 0), written["outcomes"][0]["headline"]
    assert {row["fault"] for row in written["coverage"]}
    assert not Manifest.load(folder.manifest).planted_nodes
    written, folder = one_plan(fencepost(*one, "--json", "--mutant", "unknown.offset_metadata_of_any_length"))
    assert (written["verdict"], written["exit_code"]) == ("violation", 1), written["outcomes"][0]["headline"]
    assert written["outcomes"][0]["planted_defect"] == "unknown.offset_metadata_of_any_length"
    assert Manifest.load(folder.manifest).planted_nodes["node-4"] == "unknown.offset_metadata_of_any_length"
    assert "CRD-02" in {each.requirement for each in RunVerdict.load(folder.verdict).of(Verdict.VIOLATION)}


def one_plan(done: Done) -> tuple[dict[str, Any], RunFolder]:
    """Return what a campaign of one plan printed, and the folder of its run."""
    written = json.loads(done.out)
    (each,) = written["outcomes"]
    folder = RunFolder.open(Path(each["run"]))
    assert load_plan(folder.plan).seed == each["seed"]
    verdict = RunVerdict.load(folder.verdict)
    assert verdict.verdict.value == each["verdict"] == written["verdict"]
    assert done.code == written["exit_code"]
    return written, folder
