"""Metadata is as old as the first thing that has been otherwise since, for as long as a broker answers with it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checkers.staleness import measure, stale_metadata
from results.records.verdict import Verdict
from tests.harness.checkers.story import Story


def told(story: Story, t: float, what: str, by: str | None = None, **data: Any) -> Story:
    return story.at(t).event("state", by or "log", "seen", {"what": what, **data}, by)


def leader(story: Story, t: float, leader: int, epoch: int, by: str | None = None) -> Story:
    return told(story, t, "partition", by, topic="t", partition=0, leader=leader, leader_epoch=epoch, isr=[leader])


def alive(story: Story, t: float, broker: int, state: str = "active") -> Story:
    return told(story, t, "broker", node=f"node-{broker}", id=broker, state=state, epoch=1)


def cluster() -> Story:
    """At 1 s brokers 4 and 5 live, both say so, and 4 leads."""
    story = alive(alive(Story(), 0.1, 4), 0.2, 5)
    leader(story, 0.3, 4, 1)
    for number, node in enumerate(("node-4", "node-5")):
        told(story, 0.4 + number * 0.3, "answer", node, state="serving")
        told(story, 0.5 + number * 0.3, "listed", node, brokers=[4, 5])
        leader(story, 0.6 + number * 0.3, 4, 1, node)
    return story


def test_a_broker_that_is_told_at_once_is_never_stale() -> None:
    story = leader(leader(leader(cluster(), 5.0, 5, 2), 5.2, 5, 2, "node-4"), 5.3, 5, 2, "node-5")
    finding = stale_metadata(story.event("run", "r", "end").journal())
    assert finding.verdict is Verdict.PASS
    assert finding.sentence == "No broker's metadata was 0.5 s old or older."
    assert finding.evidence["judged"] == 2


def test_a_broker_that_is_told_late_is_stale_until_then() -> None:
    story = leader(leader(leader(cluster(), 5.0, 5, 2), 5.1, 5, 2, "node-5"), 9.0, 5, 2, "node-4")
    (stale,) = measure(story.journal())
    assert (stale.node, stale.since, stale.begun, stale.ended) == ("node-4", 5.0, 5.0, 9.0)
    sentence = stale_metadata(story.journal()).sentence
    assert sentence.startswith("Node-4 handed out metadata that was 4.0 s old at worst, 4.0 s long in all")
    assert "t-0 led by 4 at epoch 1, led by 5 at epoch 2 since 5.00 s" in sentence


def test_what_a_paused_broker_does_not_say_does_not_count_but_its_age_does() -> None:
    story = told(cluster(), 3.0, "answer", "node-4", state="silent")
    leader(leader(story, 5.0, 5, 2), 5.1, 5, 2, "node-5")
    leader(told(story, 8.0, "answer", "node-4", state="serving"), 8.1, 4, 1, "node-4")
    leader(story, 8.4, 5, 2, "node-4")
    (stale,) = measure(story.journal())
    assert (stale.since, stale.begun, stale.ended) == (5.0, 8.1, 8.4)
    assert stale.age == pytest.approx(3.4)


def test_a_broker_that_lists_another_too_long_is_stale() -> None:
    story = alive(cluster(), 4.0, 5, "gone")
    (stale, other) = measure(
        told(story, 7.0, "listed", "node-4", brokers=[4]).at(8.0).event("run", "r", "end").journal()
    )
    assert (stale.node, stale.since, stale.ended) == ("node-4", 4.0, 7.0)
    assert (other.node, other.ended) == ("node-5", 8.0)


def test_a_broker_that_knows_before_the_observer_is_not_stale() -> None:
    story = told(alive(cluster(), 4.0, 5, "gone"), 4.1, "listed", "node-4", brokers=[4])
    told(story, 4.2, "listed", "node-5", brokers=[4])
    told(told(story, 9.0, "listed", "node-4", brokers=[4, 5]), 9.1, "listed", "node-5", brokers=[4, 5])
    assert measure(alive(story, 9.9, 5).journal()) == []


def test_a_topic_that_a_broker_still_knows_when_it_is_gone_is_stale() -> None:
    story = told(cluster(), 3.0, "partition-gone", topic="t", partition=0)
    told(story, 3.1, "partition-gone", "node-5", topic="t", partition=0)
    (stale,) = measure(told(story, 6.0, "partition-gone", "node-4", topic="t", partition=0).journal())
    assert (stale.node, stale.since, stale.ended) == ("node-4", 3.0, 6.0)
    assert "gone since 3.00 s" in stale.what
