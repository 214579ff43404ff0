"""Faults are in the journal before they are in the cluster, and all are healed in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fencepost.faults.links.link_fault
import fencepost.faults.processes.process_fault
from fencepost.faults.capabilities import HEALTHY, LinkState
from fencepost.faults.registry import build
from fencepost.harness.engine.active_faults import ActiveFaults
from fencepost.harness.engine.errors import FaultError
from fencepost.harness.errors import LinksLost
from fencepost.results.records.journal import JournalWriter, read_journal
from tests.faults.fake import FakeCluster, cluster_of


@pytest.fixture(autouse=True)
def _short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (fencepost.faults.links.link_fault, fencepost.faults.processes.process_fault):
        monkeypatch.setattr(module, "TIMEOUT_S", 0.0)


class Injector:
    def __init__(self, path: Path) -> None:
        self.cluster: FakeCluster = cluster_of("node-1", "node-4", "node-5")
        self.journal = JournalWriter(path / "journal.jsonl")
        self.instants: dict[str, float] = {}
        self.active_faults = ActiveFaults(self.journal, self.instants)

    def inject(self, name: str, kind: str, **params: Any) -> None:
        resolved = {key.rstrip("_"): value for key, value in params.items()}
        self.active_faults.inject(name, build(kind, self.cluster, resolved), resolved)

    def phases(self, name: str) -> list[str]:
        return [event.phase for event in read_journal(self.journal.path).events if event.id == name]


@pytest.fixture
def injector(tmp_path: Path) -> Injector:
    return Injector(tmp_path)


def test_the_life_of_a_fault_is_journalled_and_dated(injector: Injector) -> None:
    injector.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    injector.active_faults.heal("cut")
    assert injector.phases("cut") == ["intent", "injected", "proven", "recovering", "healed"]
    assert injector.instants["cut.proven"] <= injector.instants["cut.healed"]


def test_the_intent_is_written_before_anything_breaks(injector: Injector, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(injector.cluster, "cut", lambda *_: seen.append(injector.phases("cut")))
    with pytest.raises(FaultError, match="did not take effect"):
        injector.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    assert seen == [["intent"]]


def test_an_unproven_fault_is_an_error_and_is_healed_all_the_same(injector: Injector) -> None:
    injector.cluster.deaf = True
    with pytest.raises(FaultError, match="the fault cut did not take effect: 1 of 1 links show no effect"):
        injector.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    assert injector.active_faults.heal_all() == []
    assert injector.phases("cut") == ["intent", "injected", "unproven", "recovering", "healed"]


def test_a_fault_that_cannot_be_set_up_leaves_no_trace(injector: Injector) -> None:
    injector.cluster.kill("node-4")
    with pytest.raises(FaultError, match="cannot pause node-4: it is exited"):
        injector.inject("nap", "pause", nodes=["node-4"])
    assert injector.phases("nap") == []


def test_what_was_not_seen_is_not_reported_as_if_it_were_so(
    injector: Injector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(injector.cluster, "kill", lambda node: None)
    with pytest.raises(FaultError, match="the fault death did not take effect: node-4 is running"):
        injector.inject("death", "kill", nodes=["node-4"])
    [event] = [each for each in read_journal(injector.journal.path).events if each.phase == "unproven"]
    assert event.data["missed"] == "node-4 is running"


def test_two_faults_on_one_link_are_refused(injector: Injector) -> None:
    injector.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    with pytest.raises(FaultError, match="aimed at node-4 to node-1, which cut holds"):
        injector.inject("slow", "isolate", nodes=["node-1"], from_=["node-4"])
    injector.active_faults.heal("cut")
    injector.inject("again", "cut", from_=["node-4"], to=["node-1"])


def test_healing_twice_does_nothing(injector: Injector) -> None:
    injector.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    injector.active_faults.heal("cut")
    injector.active_faults.heal("cut")
    assert injector.phases("cut").count("recovering") == 1


def test_the_latest_fault_is_undone_first(injector: Injector) -> None:
    """A stall is not released while a node is paused, so the pause that came after it has to end before."""
    injector.inject("stall", "stall", from_=["node-4"], to=["node-1"])
    injector.inject("nap", "pause", nodes=["node-4"])
    assert injector.active_faults.heal_all() == []
    assert set(injector.cluster.states.values()) == {HEALTHY}


def test_what_does_not_heal_is_reported_and_tried_again(injector: Injector) -> None:
    injector.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    injector.cluster.deaf = True
    with pytest.raises(FaultError, match="the fault cut did not heal"):
        injector.active_faults.heal("cut")
    assert injector.cluster.states["node-4", "node-1"] == LinkState(enabled=False)
    injector.cluster.deaf = False
    assert injector.active_faults.heal_all() == []
    assert injector.phases("cut")[-2:] == ["recovering", "healed"]


def test_a_lost_toxiproxy_is_no_matter_of_proof(injector: Injector, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise LinksLost("Toxiproxy is gone")

    monkeypatch.setattr(injector.cluster, "cut", gone)
    with pytest.raises(LinksLost, match="Toxiproxy is gone"):
        injector.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    assert injector.phases("cut") == ["intent", "unproven"]
    monkeypatch.setattr(injector.cluster, "restore", gone)
    assert injector.active_faults.heal_all() == ["the fault cut could not be healed: Toxiproxy is gone"]
    assert isinstance(injector.active_faults.lost, LinksLost)


def test_healing_without_a_toxiproxy_says_so(injector: Injector, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise LinksLost("Toxiproxy is gone")

    injector.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    monkeypatch.setattr(injector.cluster, "state", gone)
    with pytest.raises(LinksLost, match="Toxiproxy is gone"):
        injector.active_faults.heal("cut")
