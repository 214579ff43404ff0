"""The next plan on a cluster that lives on has to find what the plan before left."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.checkers.described import described, read_checkpoints, read_requests
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.engine.describing import journal_look
from fencepost.harness.engine.inheriting import PLANS, inherit, left_by
from fencepost.harness.model.comparison import compare
from fencepost.harness.model.sent import Checkpoint, Description, Legacy, Sent
from fencepost.results.records.journal import Journal, JournalWriter, read_journal
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

CREATION = {"topics": [{"name": "a", "num_partitions": 2, "assignments": [], "configs": []}], "validate_only": False}
CREATED = {"topics": [{"name": "a", "error_code": 0, "topic_id": None}]}
GROUP = "g"


def look(name: str, objects: dict[str, Any], at: float, kind: str = "topics") -> Checkpoint:
    scope = None if kind == "topics" else [f"t-0 of {GROUP}"]
    return Checkpoint(name, (Description(kind, "n", objects, at, at + 0.1, scope),))


def first_run(answer: dict[str, Any] | None, *, shown: dict[str, Any]) -> Journal:
    builder = JournalBuilder()
    _look(builder, "begin", {})
    data = {"process": "requests", "f": "request", "api": "create_topics", "version": 5}
    builder.event("op", "request-0", "invoke", {**data, "body": CREATION}, node="n")
    if answer is not None:
        builder.event("op", "request-0", "ok", {**data, "response": answer}, node="n")
    _look(builder, "end", shown)
    return builder.journal()


def _look(builder: JournalBuilder, name: str, objects: dict[str, Any]) -> None:
    data = {"process": "describer", "f": "describe", "checkpoint": name, "kind": "topics", "objects": objects}
    at = builder.t
    builder.event("op", f"describe-{name}", "ok", {**data, "scope": None, "begun": at, "ended": at + 0.1}, node="n")


def second_run(left: Legacy, path: Path, *shown: dict[str, Any]) -> Journal:
    """Return the journal of a run after which the clock of the first one is at 100 s."""
    with JournalWriter(path) as writer:
        known = inherit(left, 100.0, writer)
        for number, objects in enumerate(shown):
            journal_look(writer, look(f"look-{number}", objects, 1.0 + number))
    journal = read_journal(path)
    assert read_checkpoints(journal)[: len(known.looks)] == list(known.looks)
    assert read_requests(journal) == [sent for _, sent in known.requests]
    return journal


def verdict(journal: Journal) -> Finding:
    return next(iter(described(plan(), journal, TopicsAtEnd())))


@pytest.mark.requirement("MDL-02")
def test_what_the_plan_before_left_has_to_be_there(tmp_path: Path) -> None:
    left = left_by(plan(), first_run(CREATED, shown={"a": [None, 2]}), Legacy())
    assert verdict(second_run(left, tmp_path / "kept", {"a": [None, 2]})).verdict is Verdict.PASS
    lost = verdict(second_run(left, tmp_path / "lost", {}))
    assert lost.verdict is Verdict.VIOLATION
    assert "describes a as absent" in lost.message
    assert lost.counterexample is not None and "create a with 2 partitions" in str(lost.counterexample.rows)


def test_a_request_without_an_answer_may_be_done_in_a_later_plan_once(tmp_path: Path) -> None:
    left = left_by(plan(), first_run(None, shown={}), Legacy())
    assert verdict(second_run(left, tmp_path / "never", {}, {})).verdict is Verdict.PASS
    assert verdict(second_run(left, tmp_path / "late", {}, {"a": [None, 2]})).verdict is Verdict.PASS
    assert verdict(second_run(left, tmp_path / "gone", {"a": [None, 2]}, {})).verdict is Verdict.VIOLATION
    assert verdict(second_run(left, tmp_path / "other", {"a": [None, 3]})).verdict is Verdict.VIOLATION


def test_requests_are_known_for_some_plans_and_looks_for_one(tmp_path: Path) -> None:
    left = left_by(plan(), first_run(None, shown={}), Legacy())
    for number in range(PLANS):
        assert [age for age, _ in left.requests] == [number + 1]
        left = left_by(plan(), second_run(left, tmp_path / str(number), {}, {}, {}), left)
        assert [each.name for each in left.looks] == ["look-0", "look-2"]
    assert left.requests == ()


PARTITION = {"partition_index": 0, "committed_offset": 5, "committed_leader_epoch": -1, "committed_metadata": "m"}
COMMIT = Sent(
    "offset_commit",
    {"group_id": GROUP, "topics": [{"name": "t", "partitions": [PARTITION]}]},
    -20.0,
    -19.0,
    {"topics": [{"name": "t", "partitions": [{"partition_index": 0, "error_code": 0}]}]},
    "n",
)


def test_an_offset_is_not_shown_to_a_plan_that_does_not_get_its_commit(tmp_path: Path) -> None:
    shown = look("end", {f"t-0 of {GROUP}": [5, -1, "m"]}, 1.0, "committed offsets")

    def looks_after(age: int) -> Legacy:
        with JournalWriter(tmp_path / f"age-{age}") as writer:
            inherit(Legacy([(age, replace(COMMIT, begun=80.0, ended=81.0))]), 100.0, writer)
            journal_look(writer, shown)
        return left_by(plan(), read_journal(tmp_path / f"age-{age}"), Legacy())

    known, forgotten = looks_after(PLANS - 1), looks_after(PLANS)
    assert compare([sent for _, sent in known.requests], known.looks).problems == []
    assert known.looks[0].descriptions[0].objects
    assert compare([sent for _, sent in forgotten.requests], forgotten.looks).problems == []


def test_offsets_are_known_by_the_requests_of_earlier_plans() -> None:
    commit = COMMIT
    kept = look("begin", {f"t-0 of {GROUP}": [5, -1, "m"]}, 1.0, "committed offsets")
    lost = look("begin", {}, 1.0, "committed offsets")
    assert compare([commit], [kept]).problems == []
    assert [each.requirement for each in compare([commit], [lost]).problems] == ["MDL-10"]


def test_what_znodes_may_have_changed_is_not_inherited() -> None:
    znode = {"do": "znode", "as": "move", "action": "create", "path": "/admin/reassign_partitions", "data": "{}"}
    by_znodes = plan(target="zk-controller", steps=[znode])
    left = left_by(by_znodes, first_run(CREATED, shown={}), Legacy())
    assert [list(each.descriptions) for each in left.looks] == [[], []]


def test_groups_of_earlier_workloads_are_not_asked_for_later() -> None:
    left = left_by(plan(), first_run(CREATED, shown={}), Legacy(of_clients=frozenset({"theirs"})))
    assert left.of_clients >= {"theirs"}


def test_times_are_those_of_the_next_run(tmp_path: Path) -> None:
    sent = Sent("create_topics", CREATION, 40.0, 41.5, CREATED, "n")
    with JournalWriter(tmp_path / "journal") as writer:
        known = inherit(Legacy(((1, sent), (2, replace(sent, ended=inf, response=None)))), 100.0, writer)
    assert [(each.begun, each.ended) for _, each in known.requests] == [(-60.0, -58.5), (-60.0, inf)]
