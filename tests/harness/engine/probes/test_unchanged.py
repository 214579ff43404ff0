"""A probe's changes are those of the decided state, once the brokers have received it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, cast

import pytest

from fencepost.harness.clients.views import Answer, BrokerView, Observation
from fencepost.harness.engine.probes.unchanged import Snapshots, changes
from tests.harness.engine.still_context import IN_ZOOKEEPER, in_zookeeper, serving, still_context


class News:
    """Observations in turn: waiting moves on until the condition holds, or there is nothing new."""

    def __init__(self, *observations: Observation) -> None:
        self._coming = list(observations)
        self.now = self._coming.pop(0)

    def catch_up(self, nodes: Collection[str], deadline: float) -> bool:
        return True

    def wait(self, condition: Callable[[], bool], deadline: float, every: float = 0.05) -> bool:
        while not condition():
            if not self._coming:
                return False
            self.now = self._coming.pop(0)
        return True


LATE = in_zookeeper(brokers={"node-4": serving(), "node-5": serving(isr=(5,))})
"""Node-5 does not know yet that broker 4 is in the ISR again."""


def unchanged_of(path: Path, news: News) -> Snapshots:
    context = still_context(path, news.now, plan=IN_ZOOKEEPER, observer=cast("Any", news))
    return Snapshots(context.references, context.clients, context.clock)


def test_what_was_decided_before_a_probe_and_received_after_it_is_no_change_by_it(tmp_path: Path) -> None:
    news = News(LATE, in_zookeeper())
    unchanged = unchanged_of(tmp_path, news)
    before = unchanged.settled(["t-0"])
    after = unchanged.snapshot(["t-0"])
    assert before is not None and after is not None
    assert changes(before, after) == {}


def test_a_broker_that_receives_nothing_is_taken_as_it_is(tmp_path: Path) -> None:
    news = News(LATE)
    unchanged = unchanged_of(tmp_path, news)
    assert unchanged.settled(["t-0"]) == unchanged.snapshot(["t-0"])


def test_a_change_that_follows_the_probe_shows(tmp_path: Path) -> None:
    news = News(in_zookeeper(), LATE)
    unchanged = unchanged_of(tmp_path, news)
    before = unchanged.settled(["t-0"])
    news.wait(lambda: False, 0.0)
    after = unchanged.snapshot(["t-0"])
    assert before is not None and after is not None
    assert list(changes(before, after)) == ["t-0, says node-5"]


@pytest.mark.parametrize("silent", ["before", "after"])
def test_a_broker_that_was_silent_for_a_moment_has_not_changed(tmp_path: Path, silent: str) -> None:
    mute = in_zookeeper(brokers={"node-4": serving(), "node-5": BrokerView(Answer.SILENT)})
    news = News(*((mute, in_zookeeper()) if silent == "before" else (in_zookeeper(), mute)))
    unchanged = unchanged_of(tmp_path, news)
    before = unchanged.snapshot(["t-0", "brokers"])
    news.wait(lambda: False, 0.0)
    after = unchanged.snapshot(["t-0", "brokers"])
    assert before is not None and after is not None
    assert len(before) != len(after)
    assert changes(before, after) == {}
