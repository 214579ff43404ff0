"""Reassignments that ended before the replicas that take over were in sync."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.harness.checkers.control import read_control
from fencepost.harness.checkers.moves import moves_wait
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.judge import judge
from fencepost.harness.plan.dialect import Dialect
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

pytestmark = pytest.mark.requirement("ISR-11")

DRAFT, KRAFT, ZOOKEEPER, LEADER_DRIVEN = Dialect.KIP_631, Dialect.KRAFT, Dialect.ZOOKEEPER, Dialect.LEADER_DRIVEN
MOVE = {"do": "probe", "as": "move", "request": "reassign", "node": "node-4", "partition": "t-0", "to": ["node-4"]}
PLAN = plan(steps=[MOVE])


def state(builder: JournalBuilder, replicas: list[int], isr: list[int], epoch: int, **more: Any) -> JournalBuilder:
    data = {"what": "partition", "topic": "t", "partition": 0, "leader": 4, "leader_epoch": epoch}
    return builder.event("state", "log", "seen", data | {"isr": isr, "replicas": replicas} | more)


def moved(
    isr: list[int], *, then: list[int] | None = None, epoch: int = 2, adding: list[int], removing: list[int]
) -> JournalBuilder:
    """From 4 and 5 to what is added and not removed; the last state has this ISR and epoch."""
    before = [4, 5, *adding]
    begun = state(JournalBuilder().event("run", "r", "begin"), before, [4], 1, adding=adding, removing=removing)
    return state(begun, then or [each for each in before if each not in removing], isr, epoch)


def judged(builder: JournalBuilder, dialect: Dialect = DRAFT, forgotten_by: str = "") -> Finding:
    journal = builder.journal()
    return moves_wait(PLAN, journal, read_control(journal), TopicsAtEnd(forgotten_by=forgotten_by), dialect)


def test_a_move_that_ends_while_one_that_stays_is_away_is_seen() -> None:
    builder = moved([4, 6], then=[4, 7, 6], adding=[6, 7], removing=[5])
    finding = judged(builder)
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.VIOLATION, 1)
    assert "The move of t-0 from the replicas 4, 5, 6, 7 to 4, 7, 6 ended" in finding.message
    assert "without 7" in finding.message
    verdict = judge(PLAN, builder.event("run", "r", "end").journal())
    assert any(each.requirement == "ISR-11" and each.verdict is Verdict.VIOLATION for each in verdict.findings)


def test_a_move_whose_target_is_in_sync_passes() -> None:
    finding = judged(moved([4, 6], adding=[6], removing=[5]))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 1)


@pytest.mark.parametrize(
    "builder",
    [
        moved([4], then=[4, 5], adding=[6], removing=[5]),
        moved([4], epoch=3, adding=[6], removing=[5]),
    ],
    ids=["cancelled", "a-decision-between-was-not-seen"],
)
def test_what_may_have_been_right_is_not_judged(builder: JournalBuilder) -> None:
    finding = judged(builder)
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 0)


def test_where_no_replica_is_removed_only_the_added_ones_are_awaited() -> None:
    assert judged(moved([4, 6], adding=[6], removing=[])).verdict is Verdict.PASS
    assert judged(moved([4, 5], adding=[6], removing=[])).verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("isr", "adding", "removing", "verdict"),
    [([6], [6], [5], Verdict.PASS), ([4], [6], [5], Verdict.VIOLATION), ([6], [6], [4, 5], Verdict.PASS)],
)
def test_apache_kafka_waits_for_the_added_replicas(
    isr: list[int], adding: list[int], removing: list[int], verdict: Verdict
) -> None:
    assert judged(moved(isr, adding=adding, removing=removing), KRAFT).verdict is verdict


def test_apache_kafka_awaits_all_if_the_target_has_fewer() -> None:
    begun = state(JournalBuilder(), [4, 5, 7, 6], [4], 1, adding=[6], removing=[5, 7], version=7)
    assert judged(state(begun, [4, 6], [6], 1, version=8), KRAFT).verdict is Verdict.VIOLATION
    begun = state(JournalBuilder(), [4, 5, 7, 6], [4], 1, adding=[6], removing=[5, 7], version=7)
    assert judged(state(begun, [4, 6], [6], 2, version=9), KRAFT).evidence["judged"] == 0


def test_what_a_voter_may_have_forgotten_is_not_held_against_the_target() -> None:
    assert judged(moved([4], adding=[6], removing=[5]), forgotten_by="wiped").verdict is Verdict.INCONCLUSIVE


def in_zookeeper(*isrs: list[int], dead: float = 1.0, back: float | None = None, seen: bool = True) -> JournalBuilder:
    """From 4 and 5 to 4 and 6, requested at 5 s; the last ISR is that at the end."""
    builder = JournalBuilder().event("run", "r", "begin").event("node", "node-6", "ready", node="node-6")
    state(builder, [4, 5], [4, 5], 0)
    builder.at(dead).event("node", "node-6", "killed", node="node-6")
    if back is not None:
        builder.at(back).event("node", "node-6", "started", node="node-6")
    builder.at(5.0).event("step", "move", "begin", {"do": "probe"})
    for epoch, isr in enumerate(isrs[:-1] if seen else [], start=1):
        state(builder, [4, 6, 5], isr, epoch, adding=[6], removing=[5])
    return state(builder, [4, 6], isrs[-1], len(isrs))


WITH_A_SIXTH = plan(
    steps=[MOVE],
    topology={
        "nodes": [
            {"name": f"node-{id}", "id": id, "index": id, "roles": ["broker" if id > 3 else "controller"]}
            for id in (1, 4, 5, 6)
        ]
    },
)


def judged_in_zookeeper(builder: JournalBuilder, dialect: Dialect) -> Finding:
    journal = builder.journal()
    return moves_wait(WITH_A_SIXTH, journal, read_control(journal), TopicsAtEnd(), dialect)


@pytest.mark.parametrize("dialect", [ZOOKEEPER, LEADER_DRIVEN])
@pytest.mark.parametrize("seen", [True, False], ids=["move-seen", "move-missed"])
def test_a_target_that_was_dead_all_the_time_was_not_in_sync(dialect: Dialect, seen: bool) -> None:
    finding = judged_in_zookeeper(in_zookeeper([4, 5], [4], seen=seen), dialect)
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.VIOLATION, 1)
    assert "without 6" in finding.message


@pytest.mark.parametrize(
    ("builder", "count"),
    [
        (in_zookeeper([4, 5, 6], [4, 6], dead=7.0), 1),
        (in_zookeeper([4, 5, 6], [4]), 0),
        (in_zookeeper([4, 5], [4], back=4.5), 0),
    ],
    ids=["in-sync", "was-in-sync-before", "came-back"],
)
def test_a_target_that_was_or_may_have_been_in_sync_passes(builder: JournalBuilder, count: int) -> None:
    finding = judged_in_zookeeper(builder, ZOOKEEPER)
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, count)
