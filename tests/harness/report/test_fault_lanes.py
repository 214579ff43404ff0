from typing import Any

import pytest

from fencepost.harness.report.fault_lanes import bands, describe, fault_lanes, step_lane
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

ALL = ["node-1", "node-2", "node-3", "node-4", "node-5", "node-6"]


@pytest.mark.parametrize(
    ("intent", "words"),
    [
        ({"fault": "cut", "params": {"from": ["node-4"], "to": ["node-6"]}}, "cut node-4 → node-6"),
        ({"fault": "kill", "params": {"nodes": ["node-6"]}}, "kill node-6"),
        ({"fault": "kill", "nodes": ALL}, "kill 6 nodes"),
        (
            {"fault": "isolate", "params": {"nodes": ["node-1", "node-5"], "from": ALL}},
            "isolate node-1, node-5 from 4 nodes",
        ),
        ({"fault": "duplicate", "params": {"node": "node-4b"}}, "duplicate node-4b"),
        ({}, "named"),
    ],
)
def test_a_fault_is_described_by_its_kind_and_targets(intent: dict[str, Any], words: str) -> None:
    assert describe("named", intent) == words


def kinds(builder: JournalBuilder) -> list[str]:
    [lane] = fault_lanes(builder.event("run", "r", "end").journal())
    return [segment.kind for segment in lane.segments]


def ordered() -> JournalBuilder:
    return (
        JournalBuilder()
        .event("fault", "cut", "intent", {"fault": "cut", "links": [{}]})
        .event("fault", "cut", "injected")
    )


def test_a_fault_is_solid_only_while_it_was_proven_to_work() -> None:
    proven = (
        ordered().event("fault", "cut", "proven").event("fault", "cut", "recovering").event("fault", "cut", "healed")
    )
    assert kinds(proven) == ["pending", "fault", "pending"]
    [band] = bands(proven.journal())
    assert (band.start, band.end) == (0.3, 0.4)


def test_a_fault_that_was_not_proven_is_shown_as_doubtful() -> None:
    assert kinds(ordered().event("fault", "cut", "unproven", {"how": "it answers"})) == ["doubtful"]
    assert list(bands(ordered().journal())) == []


def test_a_fault_that_never_healed_is_doubtful_from_the_attempt_on() -> None:
    builder = (
        ordered().event("fault", "cut", "proven").event("fault", "cut", "recovering").event("fault", "cut", "unhealed")
    )
    assert kinds(builder) == ["pending", "fault", "doubtful"]


@pytest.mark.parametrize(("level", "kind"), [("must", "missed"), ("never", "step"), ("may", "step"), (None, "missed")])
def test_what_stays_away_as_claimed_is_no_step_that_missed(level: str | None, kind: str) -> None:
    expect = None if level is None else {"level": level, "requirement": "LIVE-01"}
    waits = {"do": "await", "as": "wait", "condition": "converged", "within_ms": 10, "expect": expect}
    builder = JournalBuilder().event("step", "wait", "begin").event("step", "wait", "end", {"outcome": "missed"})
    assert [
        segment.kind for segment in step_lane(plan(steps=[waits]), builder.journal(), {"wait": "Wait"}).segments
    ] == [kind]
