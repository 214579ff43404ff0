"""A fault takes effect once its condition is true, on the node that has the role then."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import fencepost.faults.links.link_fault
from fencepost.faults.links.cut import CutParameters
from fencepost.faults.processes.kill import KillParameters
from fencepost.harness.clients.views import Observation
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import StepTimeout
from fencepost.harness.engine.execute import perform
from fencepost.harness.plan.base import LogLine
from fencepost.harness.plan.conditions.broker_active import BrokerActive
from fencepost.harness.plan.conditions.isr_shrunk import IsrShrunk
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.conditions.logged import Logged
from fencepost.harness.plan.injects import InjectStep, inject
from fencepost.results.records.events import Event
from fencepost.results.records.journal import read_journal
from tests.harness.engine.still_context import StillObserver, healthy, image, partition, still_context

SHRUNK = healthy(image=image(partition(5, 5, epoch=4)))
"""Broker 4 left the in-sync replicas, and broker 5 leads."""


class TurningObserver(StillObserver):
    """Observes `then` once it was asked for something that does not hold now."""

    def __init__(self, now: Observation, then: Observation) -> None:
        super().__init__(now)
        self.then = then

    def wait(self, condition: Callable[[], bool], deadline: float, every: float = 0.05) -> bool:
        if condition():
            return True
        if deadline == float("inf"):
            return False
        self.now = self.then
        return condition() or self._until(deadline)

    def _until(self, deadline: float) -> bool:
        time.sleep(max(0.0, deadline - time.monotonic()))
        return False


@pytest.fixture(autouse=True)
def _no_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fencepost.faults.links.link_fault, "TIMEOUT_S", 0.0)


def turning(path: Path, then: Observation = SHRUNK) -> Context:
    return still_context(path, healthy(), observer=TurningObserver(healthy(), then))


def do(step: InjectStep, context: Context) -> dict[str, Any]:
    return dict(perform(cast("Any", step), step.as_, context, cast("Any", None)))


def events_of(context: Context, id: str) -> list[Event]:
    return [event for event in read_journal(context.journal.path).events if event.id == id]


def test_a_role_is_found_once_the_condition_has_come_true(tmp_path: Path) -> None:
    context = turning(tmp_path)
    step = inject("kill", KillParameters(nodes="leader:t-0"), when=IsrShrunk(partition="t-0", within_ms=1000))
    assert do(step, context)["nodes"] == ["node-5"]
    (seen,) = events_of(context, "when-kill")
    intent = events_of(context, "kill")[0]
    assert (seen.data["condition"], intent.phase) == ("isr-shrunk", "intent")
    assert seen.data["seen"] == "t-0 has leader 5 at epoch 4, ISR [5] of [4, 5]"
    assert intent.data["params"]["nodes"] == ["node-5"]
    assert seen.t <= intent.t


def test_a_fault_of_links_hits_so_long_after_its_condition(tmp_path: Path) -> None:
    context = turning(tmp_path)
    when = LeaderIs(partition="t-0", is_not="node-4", within_ms=1000)
    do(inject("cut", CutParameters(from_="leader:t-0", to="controllers"), when=when, plus_ms=80), context)
    (seen,), (intent, injected, proven) = events_of(context, "when-cut"), events_of(context, "cut")
    assert injected.t - seen.t >= 0.07  # the instant is taken just before it is noted
    assert intent.data["params"]["from"] == ["node-5"]
    assert proven.phase == "proven"


def test_a_node_that_does_not_run_yet_can_be_waited_for(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    do(inject("kill", KillParameters(nodes="node-5"), when=BrokerActive(node="node-5", within_ms=10)), context)
    assert [event.phase for event in events_of(context, "kill")] == ["intent", "injected", "proven"]


def test_what_does_not_come_true_in_time_breaks_nothing(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    step = inject("kill", KillParameters(nodes="leader:t-0"), when=IsrShrunk(partition="t-0", within_ms=10))
    with pytest.raises(StepTimeout, match="`isr-shrunk` did not become true within 10 ms: "):
        do(step, context)
    assert events_of(context, "kill") == []


def test_any_fault_can_wait_for_a_line_of_any_log(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    (tmp_path / "node-1.log").write_text("elected at epoch 5\n")
    step = inject("cut", CutParameters(from_="node-4", to="controllers"), when=LogLine(node="node-1", says="elected"))
    assert do(step, context)["line"] == "elected at epoch 5"
    assert [event.id for event in read_journal(context.journal.path).events][:3] == ["cut", "when-cut", "cut"]


def test_what_leads_elsewhere_at_another_time_is_not_aimed_before_the_line(tmp_path: Path) -> None:
    context = turning(tmp_path)
    cast("Any", context.clients.observer).now = SHRUNK
    (tmp_path / "node-1.log").write_text("elected at epoch 5\n")
    step = inject(
        "cut", CutParameters(from_="leader:t-0", to="controllers"), when=LogLine(node="node-1", says="elected")
    )
    assert do(step, context)["from"] == ["node-5"]
    assert [event.id for event in read_journal(context.journal.path).events][:2] == ["when-cut", "cut"]


def test_a_line_awaited_as_a_condition_is_journalled_too(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    (tmp_path / "node-4.log").write_text("fenced\n")
    step = inject("kill", KillParameters(nodes="node-5"), when=Logged(node="node-4", says="fenced", within_ms=10))
    assert do(step, context)["line"] == "fenced"
