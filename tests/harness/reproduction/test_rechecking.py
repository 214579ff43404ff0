"""A run judged again: the same, or it is said what is different and why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.harness.errors import UsageError
from fencepost.harness.judge import judge_folder
from fencepost.harness.plan import dump_plan
from fencepost.harness.reproduction.rechecking import Recheck, recheck
from fencepost.results.records.folder import FolderError, Manifest, RunFolder
from fencepost.results.records.journal import JournalWriter
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """The folder of a run that lost a record, as it was left and judged."""
    made = RunFolder.create_at(tmp_path / "2026-11-21-7f3c9a21")
    made.plan.write_text(dump_plan(plan()))
    builder = (
        JournalBuilder()
        .event("run", "r", "begin")
        .send("p-0", 0)
        .send("p-1", 1)
        .final((1, "p-1"))
        .event("run", "r", "end")
    )
    with JournalWriter(made.journal) as journal:
        for event in builder.events:
            journal.write(event.type, event.id, event.phase, event.data, node=event.node)
    Manifest("r", "s", "quorum", "1", "process", 1, "0", 0.0, "d2ea2e4" * 5, {"fencepost": "0.0.9"}).save(made.manifest)
    judge_folder(made)
    return made


def said(checked: Recheck) -> str:
    return "\n".join(checked.messages())


def test_the_same_folder_is_judged_the_same_and_left_as_it_is(folder: RunFolder) -> None:
    before = folder.verdict.read_bytes()
    checked = recheck(folder)
    assert checked.same
    assert said(checked) == "The verdict is the same as the stored one (by fencepost 0.0.9 at d2ea2e4d2ea2)."
    assert folder.verdict.read_bytes() == before
    assert json.loads(json.dumps(checked.to_json()))["same"] is True


def test_another_verdict_is_explained_by_findings_and_versions(folder: RunFolder) -> None:
    now = RunVerdict.load(folder.verdict)
    gone = Finding(Verdict.PASS, "old-check", "Something old", "All was well.", requirement="OLD-01")
    kept = tuple(finding for finding in now.findings if finding.verdict is not Verdict.VIOLATION)
    replace(now, verdict=Verdict.PASS, findings=(*kept, gone)).save(folder.verdict)
    checked = recheck(folder)
    assert not checked.same
    lines = said(checked).splitlines()
    assert lines[0].startswith(
        "The stored verdict is pass. It is by fencepost 0.0.9 at d2ea2e4d2ea2, the new one by fencepost"
    )
    assert any(line.startswith("new: violation ACK-") for line in lines)
    assert lines[-1] == "gone: pass OLD-01: All was well."
    assert {finding["verdict"] for finding in checked.to_json()["added"]} == {"violation"}


def test_a_torn_journal_and_missing_files_are_reported_in_messages(folder: RunFolder) -> None:
    with folder.journal.open("ab") as journal:
        journal.write(b'{"seq": 99')
    folder.manifest.unlink()
    folder.nodes.rmdir()
    messages = said(recheck(folder))
    assert "manifest.json is missing: the version that judged the run is not known." in messages
    assert "The last line of the journal is torn: its writer was killed." in messages
    assert "The folders of the nodes are missing: the logs of replicas are not judged." in messages


def test_a_run_without_a_verdict_is_judged(folder: RunFolder) -> None:
    folder.verdict.unlink()
    checked = recheck(folder)
    assert (checked.same, checked.now.verdict) == (True, Verdict.VIOLATION)
    assert "No verdict is stored" in said(checked)
    assert not folder.verdict.exists()


def test_without_a_journal_there_is_nothing_to_judge(folder: RunFolder) -> None:
    folder.journal.unlink()
    with pytest.raises(FolderError, match=r"has no journal\.jsonl, so there is nothing to judge"):
        recheck(folder)


def test_a_run_that_goes_on_is_not_judged(folder: RunFolder) -> None:
    folder.journal.unlink()
    with JournalWriter(folder.journal), pytest.raises(UsageError, match="still goes on"):
        recheck(folder)
