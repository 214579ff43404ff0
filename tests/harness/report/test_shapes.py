from collections.abc import Mapping
from typing import Any

from harness.report.shapes import Segment, sweep


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


def test_nothing_is_drawn_for_what_begins_at_the_end() -> None:
    assert bars((10, "a", "x")) == []
    assert bars() == []
