"""What is compared before and after a probe."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, cast

import pytest

from harness.clients.views import Answer, BrokerView, Observation
from harness.engine.probes.unchanged import changes, settled, snapshot
from tests.harness.engine.stage import IN_ZOOKEEPER, in_zookeeper, serving, stage


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
"""Node-5 was not told yet that broker 4 is in the ISR again."""


def context_of(path: Path, *observations: Observation) -> Any:
    context = stage(path, observations[0], plan=IN_ZOOKEEPER)
    cast("Any", context).observer = News(*observations)
    return context


def test_what_was_decided_before_a_probe_and_told_after_it_is_no_change_by_it(tmp_path: Path) -> None:
    context = context_of(tmp_path, LATE, in_zookeeper())
    before = settled(["t-0"], context)
    after = snapshot(["t-0"], context)
    assert before is not None and after is not None
    assert changes(before, after) == {}


def test_a_broker_that_is_never_told_is_taken_as_it_is(tmp_path: Path) -> None:
    context = context_of(tmp_path, LATE)
    assert settled(["t-0"], context) == snapshot(["t-0"], context)


def test_a_change_that_follows_the_probe_shows(tmp_path: Path) -> None:
    context = context_of(tmp_path, in_zookeeper(), LATE)
    before = settled(["t-0"], context)
    context.observer.wait(lambda: False, 0.0)
    after = snapshot(["t-0"], context)
    assert before is not None and after is not None
    assert list(changes(before, after)) == ["t-0, says node-5"]


@pytest.mark.parametrize("silent", ["before", "after"])
def test_a_broker_that_was_silent_for_a_moment_has_not_changed(tmp_path: Path, silent: str) -> None:
    mute = in_zookeeper(brokers={"node-4": serving(), "node-5": BrokerView(Answer.SILENT)})
    context = context_of(tmp_path, *((mute, in_zookeeper()) if silent == "before" else (in_zookeeper(), mute)))
    before = snapshot(["t-0", "brokers"], context)
    context.observer.wait(lambda: False, 0.0)
    after = snapshot(["t-0", "brokers"], context)
    assert before is not None and after is not None
    assert len(before) != len(after)
    assert changes(before, after) == {}
