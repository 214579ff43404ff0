"""The judge by taking evidence away: what rested on it is not held any more, wherever the run is still a pass.

`journals/` has the plans and journals of recorded runs that passed. Every night all of them are tried, and each kind of
event of each client and node.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from fencepost.harness.checkers.checker import KINDS
from fencepost.harness.checkers.registry import checks
from fencepost.harness.judge import judge
from fencepost.harness.plan.file import load_plan
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.targets.registry import load_file
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict
from tests.harness.evidence.removal import (
    COUNTS,
    NEEDS,
    NO_RULES,
    OF_FILES,
    kind_of,
    numbers,
    removals,
    unjustly_held,
)

JOURNALS = sorted(Path(__file__).with_name("journals").glob("*.tar.xz"))
WHOLE = "FENCEPOST_TEST_EVIDENCE" in os.environ
SMALL = 55_000
"""Bytes of an archive that is tried each time."""
TRIED = [each for each in JOURNALS if WHOLE or each.stat().st_size <= SMALL]


@pytest.mark.parametrize("archive", TRIED, ids=lambda each: each.name.removesuffix(".tar.xz"))
def test_what_rested_on_evidence_that_is_gone_is_not_held(archive: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(archive, tmp_path)
    plan, journal = load_plan(tmp_path / "plan.yaml"), read_journal(tmp_path / "journal.jsonl")
    assert {kind for event in journal.events if event.type != "note" and (kind := kind_of(event)) not in KINDS} == set()
    before = judge(plan, journal)
    assert before.verdict is Verdict.PASS, before.headline
    assert numbers(before).keys() <= NEEDS.keys(), "say what the check rests on"
    controllers = load_file(plan.target).dialect.has_controllers
    found = []
    for removal in removals(plan, journal, whole=WHOLE):
        rest, taken = removal.of(journal)
        left = frozenset(map(kind_of, rest.events))
        held = unjustly_held(before, judge(plan, rest), taken, left, controllers=controllers)
        found += [f"without {removal.name}: {each}" for each in held]
    assert not found, "\n".join(found)


def test_the_journals_are_of_all_designs_and_of_all_kinds_of_workloads(tmp_path: Path) -> None:
    plans = []
    for archive in JOURNALS:
        shutil.unpack_archive(archive, tmp_path / archive.name)
        plans.append(load_plan(tmp_path / archive.name / "plan.yaml"))
    assert len(plans) >= 12
    targets = {plan.target.partition(":")[0] for plan in plans}
    assert targets >= {"quorum", "zk-controller", "leader-driven", "apache-kafka"}
    assert any(each.transactions for plan in plans for each in plan.workload.producers)
    assert any(".." in plan.target for plan in plans), "an upgrade"
    assert any(isinstance(step, InjectStep) and "disk" in step.fault for plan in plans for step in plan.steps)
    assert any(each.membership for plan in plans for each in plan.workload.consumers)


def test_each_check_says_what_it_rests_on() -> None:
    assert {check.name for check in checks()} - OF_FILES - NO_RULES <= NEEDS.keys()
    assert COUNTS.keys() <= NEEDS.keys()
