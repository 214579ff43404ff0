"""A saved run in which a cluster lost records: `two-leaders` on a reference cluster with the defect
`compare_and_set_dropped` (`tests.mutants`), judged again from its files.

The old leader's shrink succeeded, so it acknowledged 492 records at acks=all that no other replica had. A consumer read
them; the final read and all three logs are without them. The producer ended with a fatal error after that.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fencepost.harness.checkers.history import read_history
from fencepost.harness.plan import load_plan
from fencepost.harness.report.partition_lanes import partition_groups
from fencepost.harness.report.shapes import Curves
from fencepost.harness.reproduction.rechecking import recheck
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict

ARCHIVE = Path(__file__).with_name("saved_runs") / "two-leaders-loss.tar.xz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("saved")
    shutil.unpack_archive(ARCHIVE, path)
    return RunFolder.open(path / ARCHIVE.name.removesuffix(".tar.xz"))


@pytest.fixture(scope="module")
def verdict(folder: RunFolder) -> RunVerdict:
    return recheck(folder).now


def of_rule(verdict: RunVerdict, requirement: str) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.requirement == requirement]


def test_the_whole_loss_is_one_finding(verdict: RunVerdict) -> None:
    [loss] = [finding for finding in verdict.shown(Verdict.VIOLATION) if "gone" in finding.message]
    assert loss.requirements == ("ACK-01", "ACK-02", "SEG-01")
    assert verdict.headline == loss.message
    assert loss.message == (
        "497 records (t-0 offsets 68 to 564) are gone: 492 acknowledged with acks=all, 497 read by c1 before. "
        "Absent from the final read and the logs of node-4, node-5 and node-6. It breaks ACK-02 and SEG-01, too."
    )
    assert loss.evidence["loss"] == {
        "records": 497,
        "acknowledged": 492,
        "read": 497,
        "read_by": ["c1"],
        "extent": {"t-0": [[68, 564]]},
        "offsets_taken": 0,
        "absent_from_final_read": 497,
        "absent_from_logs": {"node-4": 497, "node-5": 497, "node-6": 497},
    }
    assert loss.counterexample is not None
    assert loss.counterexample.total == 497
    assert [row[1:4:2] + row[-3:] for row in loss.counterexample.context] == [(67, "p1-67", "there", "there", "there")]


def test_no_broken_rule_is_lost_by_it(verdict: RunVerdict) -> None:
    broken = {finding.requirement for finding in verdict.of(Verdict.VIOLATION)}
    assert broken == {"ACK-01", "ACK-02", "SEG-01", "ISR-02", "INT-57", "INT-58", "INT-59"}


def test_the_lane_of_acknowledged_records_says_what_the_headline_says(folder: RunFolder, verdict: RunVerdict) -> None:
    history = read_history(read_journal(folder.journal))
    [group] = partition_groups(load_plan(folder.plan), history, verdict.duration, verdict.findings)
    labels = [curve.label for lane in group.lanes if isinstance(lane, Curves) for curve in lane.curves]
    assert labels == ["560 acknowledged", "68 there at the end"]
    assert 560 - 492 == 68


def test_what_was_seen_before_the_producer_ended_stands(verdict: RunVerdict) -> None:
    for requirement in ("INT-57", "INT-58", "INT-59"):
        assert {finding.verdict for finding in of_rule(verdict, requirement)} == {Verdict.VIOLATION}
    [progress] = of_rule(verdict, "LIVE-03")
    assert progress.verdict is Verdict.INCONCLUSIVE, "the producer that should have made progress was gone by then"


def test_the_fatal_error_of_the_producer_is_shown_once_and_not_as_a_failure_of_the_harness(verdict: RunVerdict) -> None:
    assert not verdict.of(Verdict.INFRASTRUCTURE)
    [shown] = [finding for finding in verdict.findings if "sequence desynchronization" in finding.message]
    assert (shown.verdict, shown.check, shown.at) == (Verdict.INCONCLUSIVE, "clients", 10.93712)
