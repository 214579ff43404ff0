"""Few ends of a partition reach the journal, and each that went back does."""

from itertools import pairwise
from pathlib import Path

from fencepost.harness.checkers.visible_end import visible_end
from fencepost.harness.clients.ends import EVERY, FRESH, Turns, VisibleEnds, led_by
from fencepost.harness.clients.views import Answer, BrokerView, PartitionView
from fencepost.results.records.journal import JournalWriter, read_journal
from fencepost.results.records.verdict import Verdict

T0 = PartitionView("t", 0, 4, 3, (4, 5))


class Clock:
    """Seconds, set by the test."""

    def __init__(self) -> None:
        self.t = 0.0

    def __call__(self) -> float:
        self.t += 0.001
        return self.t


def written(path: Path, *ends: tuple[float, str, int]) -> list[int]:
    """Record ends at these times, by these nodes; return the offsets in the journal."""
    clock = Clock()
    with JournalWriter(path, monotonic=clock) as journal:
        known = VisibleEnds(journal)
        for t, node, offset in ends:
            clock.t = max(clock.t, t)
            known.ask(node, [T0], lambda offset=offset: {"t-0": offset})  # type: ignore[misc]
    return [event.data["offset"] for event in read_journal(path).of("state")]


def test_a_growing_end_is_written_once_a_second(tmp_path: Path) -> None:
    ends = [(number / 10, "node-4", number) for number in range(30)]
    assert len(written(tmp_path / "journal.jsonl", *ends)) == 3


def test_an_end_that_went_back_is_written_with_the_highest_one_before(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    assert written(path, (0.1, "node-4", 5), (0.2, "node-4", 9), (0.3, "node-5", 7)) == [5, 9, 7]
    assert visible_end(read_journal(path), {}).verdict is Verdict.VIOLATION


def test_only_partitions_that_the_broker_leads_are_asked_for() -> None:
    internal = PartitionView("__consumer_offsets", 0, 4, 1, (4,))
    others = {"u-0": PartitionView("u", 0, 5, 1, (5,)), "__consumer_offsets-0": internal}
    view = BrokerView(Answer.SERVING, frozenset({4, 5}), {"t-0": T0, **others})
    assert led_by(view, 4) == [T0]


def test_a_new_leadership_is_asked_at_each_look_and_an_old_one_seldom() -> None:
    turns, led = Turns(), [T0]
    looks = [number / 10 for number in range(100)]
    asked = [look for look in looks if turns.due(led, look)]
    assert [look for look in looks if look <= FRESH] == [each for each in asked if each <= FRESH]
    later = [each for each in asked if each > FRESH]
    assert later
    assert all(after - before >= EVERY for before, after in pairwise(later))


def test_a_node_that_was_silent_has_a_new_leadership() -> None:
    turns, led = Turns(), [T0]
    assert turns.due(led, 0.0)
    assert not turns.due(led, FRESH + 0.1) or not turns.due(led, FRESH + 0.2)
    assert not turns.due([], FRESH + 0.3)
    assert [turns.due(led, FRESH + 0.4 + number / 10) for number in range(5)] == [True] * 5
