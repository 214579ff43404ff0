"""The facts of a run folder are those of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.publishing.facts import Unpublishable, read_facts
from fencepost.results.records.folder import RANDOM_PLANS, RunFolder
from fencepost.results.records.verdict import RunVerdict, Verdict
from fencepost.results.store.tables import TABLES
from tests.harness.publishing.conftest import CopyRun


def test_the_rows_have_columns_that_are_declared_and_no_required_one_is_missing(saved: RunFolder) -> None:
    rows = read_facts(saved).rows
    for table in TABLES:
        for row in rows.get(table.name, ()):
            assert set(row) <= set(table.schema.names)
            assert [field.name for field in table.schema if not field.nullable and row.get(field.name) is None] == []


def test_the_run_has_what_identifies_it(saved: RunFolder) -> None:
    [run] = read_facts(saved).rows["runs"]
    assert (run["scenario"], run["test"], run["verdict"]) == ("two-leaders", "two-leaders", "violation")
    assert run["planted_defect"] is None and run["left_out"] is None
    assert run["plan_steps"] > 5 and "step:inject" in run["features"]
    assert run["run_id"].startswith("2026-11-23-9f7a9701-") and run["run"] == "two-leaders-loss"


def test_each_finding_that_is_no_pass_is_there_with_its_counterexample(saved: RunFolder) -> None:
    rows = read_facts(saved).rows
    verdict = RunVerdict.load(saved.verdict)
    expected = [each for each in verdict.findings if each.verdict is not Verdict.PASS or each.difference]
    assert [row["message"] for row in rows["findings"]] == [each.message for each in expected]
    loss = next(row for row in rows["findings"] if row["rule"] == "ACK-01" and row["finding"] == "violation")
    assert loss["masked"].startswith("<n> records (t-<n> offsets <n> to <n>) are gone")
    assert "counterexample" in loss["evidence"]
    assert rows["runs"][0]["signature"] in {row["signature"] for row in rows["findings"]}


def test_all_requirements_of_the_verdict_are_there_with_their_states(saved: RunFolder) -> None:
    rows = {row["rule"]: row for row in read_facts(saved).rows["requirements"]}
    verdict = RunVerdict.load(saved.verdict)
    assert {rule: row["state"] for rule, row in rows.items()} == {each.id: each.state for each in verdict.requirements}
    assert rows["ACK-01"]["checks"] >= 1 and rows["ACK-01"]["judged"] > 0


def test_each_fault_has_what_it_hit_and_when_it_was_proven_and_healed(saved: RunFolder) -> None:
    faults = read_facts(saved).rows["faults"]
    assert faults
    for row in faults:
        assert row["ordered_s"] <= row["proven_s"] <= row["healed_s"]
        assert row["outcome"] == "healed" and row["cluster_state"] == "whole"
    assert "leader" in {row["role"] for row in faults}


def test_a_run_that_did_not_pass_can_be_replayed_without_its_folder(saved: RunFolder) -> None:
    [plan] = read_facts(saved).rows["plans"]
    assert plan["plan"] == saved.plan.read_text()


def test_a_run_with_a_planted_defect_is_left_out_of_scores(copy_run: CopyRun, tmp_path: Path) -> None:
    [run] = read_facts(copy_run(tmp_path / "run", planted_defect="no_fence")).rows["runs"]
    assert (run["planted_defect"], run["left_out"]) == ("no_fence", "planted defect")


def test_the_warnings_of_all_nodes_are_counted_by_kind(copy_run: CopyRun, tmp_path: Path) -> None:
    folder = copy_run(tmp_path / "run")
    folder.logs.mkdir(exist_ok=True)
    for node in (7, 8):
        (folder.logs / f"node-{node}.log").write_text(
            f"[2026-11-23 17:02:0{node},737] WARN [RaftManager id={node}] node {node} disconnected\n"
            "[2026-11-23 17:02:09,737] INFO an ERROR that is only named far behind is none of this line's own level\n"
        )
    (folder.logs / "toxiproxy.log").write_text("WARN of no node\n")
    found = [row for row in read_facts(folder).rows["log_signatures"] if "RaftManager" in row["masked"]]
    assert [(row["level"], row["lines"], row["nodes"]) for row in found] == [("WARN", 2, ["node-7", "node-8"])]
    examples = [row["example"] for row in read_facts(folder).rows["log_signatures"]]
    assert not any("no node" in example or "far behind" in example for example in examples)


def test_all_plans_of_campaigns_are_one_test(saved: RunFolder) -> None:
    [run] = read_facts(saved, "campaign-1").rows["runs"]
    assert (run["test"], run["scenario"], run["campaign"]) == (RANDOM_PLANS, "two-leaders", "campaign-1")


def test_a_run_of_another_machine_with_the_same_name_is_another_run(copy_run: CopyRun, tmp_path: Path) -> None:
    here, there = (copy_run(tmp_path / place / "run", started=at) for place, at in (("a", 1.25), ("b", 1.5)))
    ids = {read_facts(folder).rows["runs"][0]["run_id"] for folder in (here, there)}
    assert len(ids) == 2


def test_a_torn_journal_is_published_and_said(copy_run: CopyRun, tmp_path: Path) -> None:
    folder = copy_run(tmp_path / "run")
    whole = read_facts(folder)
    folder.journal.write_bytes(folder.journal.read_bytes()[:-20])
    torn = read_facts(folder)
    assert (whole.damage, torn.damage) == ("", "the last line is torn")
    assert torn.rows["runs"][0]["torn"] == 1


@pytest.mark.parametrize("name", ["manifest.json", "verdict.json", "plan.yaml"])
@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '"x"', "{format: fencepost-plan/9}"])
def test_a_file_that_cannot_be_read_is_named(copy_run: CopyRun, tmp_path: Path, name: str, text: str) -> None:
    folder = copy_run(tmp_path / "run")
    (folder.path / name).write_text(text)
    with pytest.raises(Unpublishable) as raised:
        read_facts(folder)
    assert (raised.value.file, raised.value.reason) == (name, "unreadable")
