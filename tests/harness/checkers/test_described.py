from __future__ import annotations

from typing import Any

import pytest

from fencepost.harness.checkers.described import CHECKS, described
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

CREATION = {"topics": [{"name": "a", "num_partitions": 2, "assignments": [], "configs": []}], "validate_only": False}
CREATED = {"topics": [{"name": "a", "error_code": 0, "topic_id": None}]}
NAMES = list(CHECKS)


def look(journal: JournalBuilder, name: str, objects: dict[str, Any]) -> None:
    data = {"process": "describer", "f": "describe", "checkpoint": name, "kind": "topics", "objects": objects}
    now = journal.t
    journal.event("op", f"describe-{name}", "ok", {**data, "scope": None, "begun": now, "ended": now + 0.1}, node="n")


def recorded(objects: dict[str, Any]) -> JournalBuilder:
    journal = JournalBuilder()
    look(journal, "begin", {})
    data = {"process": "requests", "f": "request", "api": "create_topics", "version": 5}
    journal.event("op", "request-0", "invoke", {**data, "body": CREATION}, node="n")
    journal.event("op", "request-0", "ok", {**data, "response": CREATED}, node="n")
    look(journal, "end", objects)
    return journal


@pytest.mark.requirement("MDL-02")
def test_what_was_asked_for_has_to_be_described() -> None:
    held = next(iter(described(plan(), recorded({"a": [None, 2]}).journal(), TopicsAtEnd())))
    broken = next(iter(described(plan(), recorded({"a": [None, 1]}).journal(), TopicsAtEnd())))
    assert (held.verdict, held.evidence["judged"]) == (Verdict.PASS, 2)
    assert broken.verdict is Verdict.VIOLATION
    assert broken.requirement == "MDL-02"
    assert broken.counterexample is not None
    assert "create a with 2 partitions" in str(broken.counterexample.rows)


def test_what_a_voter_may_have_forgotten_is_not_judged() -> None:
    journal = recorded({}).journal()
    finding = next(iter(described(plan(), journal, TopicsAtEnd(forgotten_by="fault-1"))))
    assert finding.verdict is Verdict.INCONCLUSIVE


def test_without_descriptions_nothing_is_judged() -> None:
    findings = list(described(plan(), JournalBuilder().journal(), TopicsAtEnd()))
    assert [each.evidence["judged"] for each in findings] == [0] * len(NAMES)


def test_what_is_described_late_while_a_node_lacks_a_processor_is_not_judged() -> None:
    journal = recorded({"a": [None, 1]})
    looked = journal.t
    data = {"what": "processor", "seconds": 1.0, "waited": 0.9, "used": 0.1, "used_before": 20.0}
    for _ in range(4):
        journal.event("state", "processor-n", "seen", data, node="n")
    waiting = next(iter(described(plan(), journal.journal(), TopicsAtEnd())))
    assert (waiting.verdict, waiting.requirement) == (Verdict.INCONCLUSIVE, "MDL-02")
    look(journal.at(looked + 20), "later", {"a": [None, 1]})
    assert next(iter(described(plan(), journal.journal(), TopicsAtEnd()))).verdict is Verdict.VIOLATION


def test_what_znodes_change_is_not_judged_by_requests() -> None:
    reassigned = {"do": "znode", "as": "move", "action": "create", "path": "/admin/reassign_partitions", "data": "{}"}
    by_znodes = plan(target="zk-controller", steps=[reassigned])
    finding = next(iter(described(by_znodes, recorded({"a": [None, 1]}).journal(), TopicsAtEnd())))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 0)
