"""Metadata is as old as the first thing that has been otherwise since, for as long as a broker answers with it."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.harness.checkers.staleness import measure, stale_metadata
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder


def seen(builder: JournalBuilder, t: float, what: str, by: str | None = None, **data: Any) -> JournalBuilder:
    return builder.at(t).event("state", by or "log", "seen", {"what": what, **data}, by)


def leader(builder: JournalBuilder, t: float, leader: int, epoch: int, by: str | None = None) -> JournalBuilder:
    return seen(builder, t, "partition", by, topic="t", partition=0, leader=leader, leader_epoch=epoch, isr=[leader])


def alive(builder: JournalBuilder, t: float, broker: int, state: str = "active") -> JournalBuilder:
    return seen(builder, t, "broker", node=f"node-{broker}", id=broker, state=state, epoch=1)


def cluster() -> JournalBuilder:
    """At 1 s brokers 4 and 5 live, both say so, and 4 leads."""
    builder = alive(alive(JournalBuilder(), 0.1, 4), 0.2, 5)
    leader(builder, 0.3, 4, 1)
    for number, node in enumerate(("node-4", "node-5")):
        seen(builder, 0.4 + number * 0.3, "answer", node, state="serving")
        seen(builder, 0.5 + number * 0.3, "listed", node, brokers=[4, 5])
        leader(builder, 0.6 + number * 0.3, 4, 1, node)
    return builder


def test_a_broker_that_knows_at_once_is_never_stale() -> None:
    builder = leader(leader(leader(cluster(), 5.0, 5, 2), 5.2, 5, 2, "node-4"), 5.3, 5, 2, "node-5")
    finding = stale_metadata(builder.event("run", "r", "end").journal())
    assert finding.verdict is Verdict.PASS
    assert finding.message == "No broker's metadata was 0.5 s old or older."
    assert finding.evidence["judged"] == 2


def test_a_broker_that_knows_late_is_stale_until_then() -> None:
    builder = leader(leader(leader(cluster(), 5.0, 5, 2), 5.1, 5, 2, "node-5"), 9.0, 5, 2, "node-4")
    (stale,) = measure(builder.journal())
    assert (stale.node, stale.since, stale.begun, stale.ended) == ("node-4", 5.0, 5.0, 9.0)
    message = stale_metadata(builder.journal()).message
    assert message.startswith("Node-4 answered with metadata that was up to 4.0 s old, for 4.0 s in all")
    assert "t-0 led by 4 at epoch 1, led by 5 at epoch 2 since 5.00 s" in message


def test_what_a_paused_broker_does_not_say_does_not_count_but_its_age_does() -> None:
    builder = seen(cluster(), 3.0, "answer", "node-4", state="silent")
    leader(leader(builder, 5.0, 5, 2), 5.1, 5, 2, "node-5")
    leader(seen(builder, 8.0, "answer", "node-4", state="serving"), 8.1, 4, 1, "node-4")
    leader(builder, 8.4, 5, 2, "node-4")
    (stale,) = measure(builder.journal())
    assert (stale.since, stale.begun, stale.ended) == (5.0, 8.1, 8.4)
    assert stale.age == pytest.approx(3.4)


def test_a_broker_that_lists_another_too_long_is_stale() -> None:
    builder = alive(cluster(), 4.0, 5, "gone")
    (stale, other) = measure(
        seen(builder, 7.0, "listed", "node-4", brokers=[4]).at(8.0).event("run", "r", "end").journal()
    )
    assert (stale.node, stale.since, stale.ended) == ("node-4", 4.0, 7.0)
    assert (other.node, other.ended) == ("node-5", 8.0)


def test_a_broker_that_knows_before_the_observer_is_not_stale() -> None:
    builder = seen(alive(cluster(), 4.0, 5, "gone"), 4.1, "listed", "node-4", brokers=[4])
    seen(builder, 4.2, "listed", "node-5", brokers=[4])
    seen(seen(builder, 9.0, "listed", "node-4", brokers=[4, 5]), 9.1, "listed", "node-5", brokers=[4, 5])
    assert measure(alive(builder, 9.9, 5).journal()) == []


def test_a_topic_that_a_broker_still_knows_when_it_is_gone_is_stale() -> None:
    builder = seen(cluster(), 3.0, "partition-gone", topic="t", partition=0)
    seen(builder, 3.1, "partition-gone", "node-5", topic="t", partition=0)
    (stale,) = measure(seen(builder, 6.0, "partition-gone", "node-4", topic="t", partition=0).journal())
    assert (stale.node, stale.since, stale.ended) == ("node-4", 3.0, 6.0)
    assert "gone since 3.00 s" in stale.what


def test_events_that_say_nothing_of_metadata_make_no_broker_stale() -> None:
    builder = leader(leader(seen(cluster(), 4.0, "processor", "node-4", waited=1.0), 5.0, 5, 2), 5.1, 5, 2, "node-5")
    alive(seen(leader(builder, 5.2, 5, 2, "node-4"), 6.0, "queue", length=3), 6.1, 4)
    seen(builder, 6.2, "partition-gone", topic="never-seen", partition=0)
    assert measure(builder.journal()) == []


def test_a_state_that_is_decided_again_is_no_news() -> None:
    builder = leader(leader(cluster(), 5.0, 4, 1), 5.1, 4, 1, "node-4")
    assert measure(builder.journal()) == []


def test_a_broker_that_catches_up_in_part_is_stale_since_the_next_thing_that_it_does_not_know() -> None:
    builder = leader(leader(leader(cluster(), 5.0, 5, 2), 5.1, 5, 2, "node-5"), 7.0, 4, 3)
    leader(builder, 7.1, 4, 3, "node-5")
    leader(leader(builder, 8.0, 5, 2, "node-4"), 9.0, 4, 3, "node-4")
    first, second = measure(builder.journal())
    assert (first.since, first.begun, first.ended) == (5.0, 5.0, 8.0)
    assert (second.since, second.begun, second.ended) == (7.0, 8.0, 9.0)


def test_a_broker_that_forgets_a_partition_is_not_stale_about_it() -> None:
    builder = leader(leader(cluster(), 5.0, 5, 2), 5.1, 5, 2, "node-5")
    seen(builder, 5.2, "partition-gone", "node-4", topic="t", partition=0)
    assert measure(builder.journal()) == []
