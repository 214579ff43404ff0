"""The end of a run awaits the nodes that no step awaited, if the cluster is not whole: their silence is judged.

A run may end before its last step only by a claim that is broken for certain.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fencepost.harness.backends import PROCESS
from fencepost.harness.clients.views import Answer, BrokerView
from fencepost.harness.engine.execute import Execution
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.broker_fenced import BrokerFenced
from fencepost.results.records.events import ENDED_EARLY
from fencepost.results.records.journal import read_journal
from tests.faults.fake import FakeCluster, cluster_of
from tests.harness.engine.still_context import PLAN, healthy, serving, still_context


class Awaiting(FakeCluster):
    """Notes that it is asked for the nodes that were not awaited."""

    backend = PROCESS

    def await_unawaited(self, seconds: float) -> None:
        self.calls.append(f"await the others for {seconds:g} s")


def _end(path: Path, monkeypatch: pytest.MonkeyPatch, *, whole: bool = True, broken: bool = False) -> list[str]:
    cluster = Awaiting(running=cluster_of("node-1", "node-2", "node-4", "node-5").running)
    views = {"node-4": serving(), "node-5": serving() if whole else BrokerView(Answer.SILENT)}
    context = still_context(path, healthy(brokers=views), cluster)
    idle = SimpleNamespace(
        audit=lambda: None,
        record=lambda message: None,
        report=lambda *_, **__: None,
        finish=lambda: None,
        stop=lambda until: None,
    )
    for look in ("list_topics", "take_checkpoint"):
        monkeypatch.setattr(f"fencepost.harness.engine.execute.{look}", lambda context, names: None)
    context.clients = cast("Any", SimpleNamespace(workload=idle))
    execution = Execution(context, cast("Any", idle), cast("Any", idle), cast("Any", idle))
    if broken:
        with pytest.raises(InfrastructureError):
            cluster.lost.append("Toxiproxy ended")
            execution.perform(cast("Any", SimpleNamespace(do="hold")), "hold", 1)
    execution.end()
    return cluster.calls


@pytest.mark.requirement("LIVE-07")
def test_nodes_that_no_step_awaited_are_awaited_if_the_cluster_is_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _end(tmp_path, monkeypatch, whole=False) == ["await the others for 60 s"]


def test_they_are_not_asked_where_the_cluster_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _end(tmp_path, monkeypatch) == []


def test_they_are_not_asked_where_the_machinery_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _end(tmp_path, monkeypatch, whole=False, broken=True) == []


@pytest.mark.parametrize("expect", [Expect(level=Level.MUST, requirement="LIVE-03"), None], ids=["owed", "not owed"])
def test_only_an_owed_condition_that_was_missed_ends_the_run_early(tmp_path: Path, expect: Expect | None) -> None:
    steps = (
        BrokerFenced(as_="lost", node="node-4", within_ms=10, expect=expect),
        BrokerFenced(as_="later", node="node-5", within_ms=10, expect=expect),
    )
    context = still_context(tmp_path, healthy(), plan=PLAN.model_copy(update={"steps": steps}))
    idle: Any = SimpleNamespace(contradicted=False, report=lambda *_, **__: None)
    execution = Execution(context, idle, idle, idle)
    assert not execution.tries(0)
    assert execution.ends_early(0) is (expect is not None)
    notes = [each.data for each in read_journal(context.journal.path).of("note")]
    assert [(each["what"], each["step"], each["untried"]) for each in notes] == (
        [(ENDED_EARLY, "lost", ["later"])] if expect is not None else []
    )
