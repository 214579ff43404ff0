"""Each verdict is reported in the way that pytest and Allure understand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.harness.conformance.options import InconclusiveAs
from fencepost.harness.conformance.outcome import (
    Inconclusive,
    Infrastructure,
    Violation,
    explanation,
    raise_unless_passed,
)
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict

FOLDER = RunFolder(Path("runs/2026-11-21-7f3c9a21"))


def verdict(kind: Verdict) -> RunVerdict:
    finding = Finding(kind, "lost-write", "Lost", "220 records are lost.", requirement="ACK-01", level="never")
    rule = RequirementResult("ACK-01", RequirementState.BROKEN, "An acknowledged record is kept.", "data", "Durability")
    return RunVerdict(kind, "records are lost", "s", "quorum", "7f3c9a21", 1.0, 10, 0, (finding,), (rule,))


def test_a_pass_raises_nothing() -> None:
    raise_unless_passed(verdict(Verdict.PASS), FOLDER)


@pytest.mark.parametrize(
    ("kind", "raised"),
    [
        (Verdict.VIOLATION, Violation),
        (Verdict.INFRASTRUCTURE, Infrastructure),
        (Verdict.INCONCLUSIVE, Inconclusive),
    ],
)
def test_only_a_violation_is_an_assertion(kind: Verdict, raised: type[Exception]) -> None:
    with pytest.raises(raised) as caught:
        raise_unless_passed(verdict(kind), FOLDER)
    assert isinstance(caught.value, AssertionError) == (kind is Verdict.VIOLATION)


def test_a_failure_states_the_broken_rule_and_its_source_and_where_to_look() -> None:
    with pytest.raises(Violation) as caught:
        raise_unless_passed(verdict(Verdict.VIOLATION), FOLDER)
    assert str(caught.value).splitlines() == [
        "records are lost",
        "ACK-01    An acknowledged record is kept. (data, Durability)",
        "          220 records are lost.",
        "report    runs/2026-11-21-7f3c9a21/report.html",
        "replay    fencepost replay runs/2026-11-21-7f3c9a21",
    ]


def test_every_rule_that_a_finding_breaks_is_stated_once() -> None:
    broken = verdict(Verdict.VIOLATION)
    [finding] = broken.findings
    more = RequirementResult("HW-01", RequirementState.BROKEN, "A high watermark never goes back.", "data", "Reads")
    twice = (replace(finding, also=("HW-01",)), replace(finding, message="One more is lost."))
    text = explanation(replace(broken, findings=twice, requirements=(*broken.requirements, more)), FOLDER)
    assert text.splitlines()[1:5] == [
        "ACK-01    An acknowledged record is kept. (data, Durability)",
        "HW-01     A high watermark never goes back. (data, Reads)",
        "          220 records are lost.",
        "          One more is lost.",
    ]


def test_a_failure_says_which_faults_were_at_work(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with JournalWriter(folder.journal) as journal:
        journal.write("fault", "cut", "intent", {"fault": "cut", "params": {"from": ["node-6"], "to": ["node-1"]}})
        journal.write("fault", "cut", "proven", {"how": "a round trip"})
    [line] = [line for line in explanation(verdict(Verdict.VIOLATION), folder).splitlines() if "fault" in line]
    assert line.startswith("fault     cut: cut from node-6 to node-1, proven at 0.")


def test_an_inconclusive_run_is_an_error_unless_the_session_skips_it() -> None:
    with pytest.raises(pytest.skip.Exception, match=r"inconclusive: records are lost[\s\S]*replay"):
        raise_unless_passed(verdict(Verdict.INCONCLUSIVE), FOLDER, InconclusiveAs.SKIP)
    with pytest.raises(Infrastructure):
        raise_unless_passed(verdict(Verdict.INFRASTRUCTURE), FOLDER, InconclusiveAs.SKIP)


def test_findings_of_another_kind_are_left_to_the_report() -> None:
    mixed = verdict(Verdict.VIOLATION)
    other = Finding(Verdict.PASS, "one-leader", "Two leaders", "12 epochs had one leader.")
    with pytest.raises(Violation) as caught:
        raise_unless_passed(replace(mixed, findings=(*mixed.findings, other)), FOLDER)
    assert "12 epochs" not in str(caught.value)
