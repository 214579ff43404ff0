"""Faults are in the journal before they are in the cluster, and all are healed in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import faults.links.link_fault
import faults.processes.process_fault
from faults.capabilities import HEALTHY, LinkState
from faults.registry import build
from harness.engine.keeper import FaultError, FaultKeeper
from harness.errors import LinksLost
from results.records.journal import JournalWriter, read_journal
from tests.faults.fake import FakeCluster, cluster_of


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (faults.links.link_fault, faults.processes.process_fault):
        monkeypatch.setattr(module, "PATIENCE", 0.0)


class Stage:
    def __init__(self, path: Path) -> None:
        self.cluster: FakeCluster = cluster_of("node-1", "node-4", "node-5")
        self.journal = JournalWriter(path / "journal.jsonl")
        self.instants: dict[str, float] = {}
        self.keeper = FaultKeeper(self.journal, self.instants)

    def inject(self, name: str, kind: str, **params: Any) -> None:
        resolved = {key.rstrip("_"): value for key, value in params.items()}
        self.keeper.inject(name, build(kind, self.cluster, resolved), resolved)

    def phases(self, name: str) -> list[str]:
        return [event.phase for event in read_journal(self.journal.path).events if event.id == name]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_the_life_of_a_fault_is_journalled_and_dated(stage: Stage) -> None:
    stage.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    stage.keeper.heal("cut")
    assert stage.phases("cut") == ["intent", "injected", "proven", "recovering", "healed"]
    assert stage.instants["cut.proven"] <= stage.instants["cut.healed"]


def test_the_intent_is_written_before_anything_breaks(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(stage.cluster, "cut", lambda *_: seen.append(stage.phases("cut")))
    with pytest.raises(FaultError, match="did not take effect"):
        stage.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    assert seen == [["intent"]]


def test_an_unproven_fault_is_an_error_and_is_healed_all_the_same(stage: Stage) -> None:
    stage.cluster.deaf = True
    with pytest.raises(FaultError, match="the fault cut did not take effect: 1 of 1 links show no effect"):
        stage.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    assert stage.keeper.heal_all() == []
    assert stage.phases("cut") == ["intent", "injected", "unproven", "recovering", "healed"]


def test_a_fault_that_cannot_be_set_up_leaves_no_trace(stage: Stage) -> None:
    stage.cluster.kill("node-4")
    with pytest.raises(FaultError, match="cannot pause node-4: it is exited"):
        stage.inject("nap", "pause", nodes=["node-4"])
    assert stage.phases("nap") == []


def test_two_faults_on_one_link_are_refused(stage: Stage) -> None:
    stage.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    with pytest.raises(FaultError, match="aimed at node-4 to node-1, which cut holds"):
        stage.inject("slow", "isolate", nodes=["node-1"], from_=["node-4"])
    stage.keeper.heal("cut")
    stage.inject("again", "cut", from_=["node-4"], to=["node-1"])


def test_healing_twice_does_nothing(stage: Stage) -> None:
    stage.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    stage.keeper.heal("cut")
    stage.keeper.heal("cut")
    assert stage.phases("cut").count("recovering") == 1


def test_the_latest_fault_is_undone_first(stage: Stage) -> None:
    """A stall is not released while a node is paused, so the pause that came after it has to end before."""
    stage.inject("stall", "stall", from_=["node-4"], to=["node-1"])
    stage.inject("nap", "pause", nodes=["node-4"])
    assert stage.keeper.heal_all() == []
    assert set(stage.cluster.states.values()) == {HEALTHY}


def test_what_does_not_heal_is_told_and_tried_again(stage: Stage) -> None:
    stage.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    stage.cluster.deaf = True
    with pytest.raises(FaultError, match="the fault cut did not heal"):
        stage.keeper.heal("cut")
    assert stage.cluster.states["node-4", "node-1"] == LinkState(enabled=False)
    stage.cluster.deaf = False
    assert stage.keeper.heal_all() == []
    assert stage.phases("cut")[-2:] == ["recovering", "healed"]


def test_a_lost_toxiproxy_is_no_matter_of_proof(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise LinksLost("Toxiproxy is gone")

    monkeypatch.setattr(stage.cluster, "cut", gone)
    with pytest.raises(LinksLost, match="Toxiproxy is gone"):
        stage.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    assert stage.phases("cut") == ["intent", "unproven"]
    monkeypatch.setattr(stage.cluster, "restore", gone)
    assert stage.keeper.heal_all() == ["the fault cut could not be healed: Toxiproxy is gone"]
    assert isinstance(stage.keeper.lost, LinksLost)


def test_healing_without_a_toxiproxy_says_so(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise LinksLost("Toxiproxy is gone")

    stage.inject("cut", "cut", from_=["node-4"], to=["node-1"])
    monkeypatch.setattr(stage.cluster, "state", gone)
    with pytest.raises(LinksLost, match="Toxiproxy is gone"):
        stage.keeper.heal("cut")
