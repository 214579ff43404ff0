from collections.abc import Mapping
from typing import Any

from fencepost.harness.report.node_lanes import broker_lanes
from fencepost.harness.report.shapes import Segment, sweep
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan


def look(state: Mapping[str, Any]) -> Segment | None:
    return Segment(0, 0, str(state["a"])) if "a" in state else None


def bars(*changes: tuple[float, str, Any]) -> list[tuple[float, float, str]]:
    return [(each.start, each.end, each.kind) for each in sweep(changes, 10.0, look)]


def test_a_bar_lasts_until_the_next_change_or_the_end() -> None:
    assert bars((1, "a", "x"), (4, "a", "y")) == [(1, 4, "x"), (4, 10, "y")]


def test_neighbours_that_look_the_same_are_one_bar() -> None:
    assert bars((1, "a", "x"), (2, "b", 1), (3, "a", "x")) == [(1, 10, "x")]


def test_a_gap_stays_a_gap() -> None:
    assert bars((1, "a", "x"), (2, "a", None), (5, "a", "x")) == [(1, 2, "x"), (5, 10, "x")]


def test_of_changes_at_one_instant_the_last_is_seen() -> None:
    assert bars((1, "a", "x"), (1, "a", "y")) == [(1, 10, "y")]


def test_nothing_is_shown_for_what_begins_at_the_end() -> None:
    assert bars((10, "a", "x")) == []
    assert bars() == []


def test_a_leader_of_many_partitions_names_a_few() -> None:
    many = plan(topics=[{"name": "t", "assignments": [[4]] * 50}])
    builder = JournalBuilder().event("node", "node-4", "ready", node="node-4")
    builder.event(
        "state", "broker", "seen", {"what": "broker", "node": "node-4", "id": 4, "state": "active", "epoch": 1}
    )
    for number in range(50):
        builder.partition(4, 0, [4], partition=number)
    segment = broker_lanes(many, builder.at(9.0).event("run", "r", "end").journal())[0].segments[-1]
    assert segment.labels[1] == "leads 50 partitions"
    assert segment.tip.endswith("t-5 (epoch 0) and 44 more")
