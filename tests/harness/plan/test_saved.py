"""The plan of a run folder is read from its JSON only while that is the plan that the folder names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError
from ruamel.yaml.error import YAMLError

from fencepost.harness.engine.manifest import describe
from fencepost.harness.plan.file import dump_plan, parse_plan
from fencepost.harness.plan.hash import hash_of
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.saved import save_plan, saved_plan
from fencepost.results.records.folder import Manifest, RunFolder
from tests.harness.plan.test_file import PLAN

Saved = tuple[RunFolder, Manifest, Plan]


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    plan = parse_plan(PLAN, "plan.yaml")
    folder = RunFolder.create_at(tmp_path / "run")
    save_plan(folder, plan)
    return folder, describe(plan, folder, "1.0", "process"), plan


def test_both_files_hold_the_plan(saved: Saved) -> None:
    folder, manifest, plan = saved
    assert saved_plan(folder, manifest) == (dump_plan(plan), plan)
    folder.plan_data.unlink()
    assert saved_plan(folder, manifest) == (dump_plan(plan), plan)


def test_the_json_is_what_is_read(saved: Saved) -> None:
    folder, manifest, _ = saved
    other = json.loads(folder.plan_data.read_text()) | {"title": "Another"}
    folder.plan_data.write_text(json.dumps(other))
    assert saved_plan(folder, replace(manifest, plan_hash=hash_of(other)))[1].title == "Another"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scenario": "another"}', "\udcff"])
def test_a_json_of_another_plan_does_not_count(saved: Saved, text: str) -> None:
    folder, manifest, plan = saved
    folder.plan_data.write_bytes(text.encode(errors="surrogateescape"))
    assert saved_plan(folder, manifest)[1] == plan


def test_an_edited_plan_counts_as_it_is_now(saved: Saved) -> None:
    folder, manifest, plan = saved
    folder.plan.write_text(dump_plan(plan).replace(plan.title, "Edited"))
    assert saved_plan(folder, manifest)[1].title == "Edited"


@pytest.mark.parametrize("text", ["- a list", "scenario: [", "scenario: no plan"])
def test_what_is_no_plan_is_refused(saved: Saved, text: str) -> None:
    folder, manifest, _ = saved
    folder.plan.write_text(text)
    with pytest.raises((ValueError, ValidationError, YAMLError)):
        saved_plan(folder, manifest)
