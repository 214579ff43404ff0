"""Faults of wall clocks: the nodes, the proof, and nodes that never asked for the time."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

import fencepost.faults.clock.clock_fault
from fencepost.faults.capabilities import CapabilityError, ClockReading
from fencepost.faults.clock.jump import ClockJump, ClockJumpParameters
from fencepost.faults.clock.skew import ClockSkew
from fencepost.faults.generation import GeneratedFault
from fencepost.faults.registry import build
from tests.faults.fake import FakeClocks, FakeCluster, cluster_of

HOUR_MS = 3_600_000


@pytest.fixture(autouse=True)
def _short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fencepost.faults.clock.clock_fault, "TIMEOUT_S", 0.0)
    monkeypatch.setattr(fencepost.faults.clock.clock_fault, "ASKED_WITHIN", 0.0)


@pytest.fixture
def cluster() -> FakeCluster:
    return cluster_of("node-4", "node-5")


def reads(monkeypatch: pytest.MonkeyPatch, **different: object) -> None:
    """From now on each clock is measured with these differences."""
    read = FakeClocks.read

    def differently(clocks: FakeClocks, node: str) -> ClockReading:
        return replace(read(clocks, node), **different)  # type: ignore[arg-type]

    monkeypatch.setattr(FakeClocks, "read", differently)


def test_a_process_that_was_given_another_time_than_the_probe_read_is_no_proof(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = build("clock-jump", cluster, {"nodes": ["node-4"], "ms": -HOUR_MS})
    fault.set_up()
    fault.inject()
    assert fault.verify().proven
    reads(monkeypatch, reported_ms=(-1.0, 1.0))
    assert not fault.verify().proven


def test_a_process_that_never_asked_is_proven_by_its_memory_map(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads(monkeypatch, reported_ms=None, asked=0)
    fault = build("clock-jump", cluster, {"nodes": ["node-4"], "ms": HOUR_MS})
    fault.set_up()
    fault.inject()
    assert fault.verify().proven
    reads(monkeypatch, unfollowed="the process of node-4 has not loaded the library")
    evidence = fault.verify()
    assert (evidence.proven, evidence.how) == (False, "the process of node-4 has not loaded the library")


def test_a_clock_that_is_wrong_already_is_left_alone(cluster: FakeCluster) -> None:
    build("clock-skew", cluster, {"nodes": ["node-4"], "ppm": 100_000}).inject()
    with pytest.raises(CapabilityError, match="off the machine's already: heal that first"):
        build("clock-jump", cluster, {"nodes": ["node-4"], "ms": HOUR_MS}).set_up()


def test_a_drift_at_another_speed_is_no_proof(cluster: FakeCluster) -> None:
    fault = build("clock-skew", cluster, {"nodes": ["node-4"], "ppm": 100_000})
    fault.set_up()
    FakeClocks(cluster).set("node-4", 0, 70_000)
    assert not fault.verify().proven
    FakeClocks(cluster).set("node-4", 0, -100_000)
    assert not fault.verify().proven


def test_a_node_may_be_killed_while_its_clock_is_wrong_and_is_healed_all_the_same(cluster: FakeCluster) -> None:
    fault = build("clock-jump", cluster, {"nodes": ["node-4"], "ms": HOUR_MS})
    fault.set_up()
    fault.inject()
    assert fault.nodes() == frozenset()
    cluster.kill("node-4")
    fault.recover()
    assert fault.verify_healed().proven


def test_a_role_that_led_to_no_node_is_refused(cluster: FakeCluster) -> None:
    parameters = ClockJumpParameters(nodes="leader:t-0", ms=1)
    with pytest.raises(CapabilityError, match="no node whose clock"):
        ClockJump(cluster, parameters.resolved(str, lambda refs: ())).set_up()


@dataclass
class Quorum:
    """As much of a cluster as a random clock is aimed at."""

    target_name: str
    uses_zookeeper: bool = False
    own_clocks: bool = True
    broker_is_controller: bool = False
    quorum: tuple[str, ...] = ("node-1", "node-2", "node-3")
    brokers: tuple[str, ...] = ("node-4", "node-5", "node-6")
    partitions: tuple[str, ...] = ("t-0",)


def generated(kind: type[ClockJump] | type[ClockSkew], cluster: Quorum) -> list[GeneratedFault]:
    made = (kind.generate(random.Random(seed), cast("Any", cluster)) for seed in range(200))
    return [each for each in made if each is not None]


@pytest.mark.parametrize("kind", [ClockJump, ClockSkew])
def test_random_clocks_are_wrong_on_standby_controllers_too(kind: type[ClockJump] | type[ClockSkew]) -> None:
    aims = {each.aim.text for each in generated(kind, Quorum("quorum"))}
    assert {"active-controller", "standby-controller", "node-1", "node-2", "node-3"} <= aims
    assert not {"standby-controller", "node-1"} & {
        each.aim.text for each in generated(kind, Quorum("zk-controller", uses_zookeeper=True, quorum=("zk-1",)))
    }


@pytest.mark.parametrize(("target", "away"), [("quorum", 0), ("apache-kafka", 1)])
def test_a_controller_with_a_wrong_clock_is_away_where_elections_go_by_it(target: str, away: int) -> None:
    for fault in generated(ClockJump, Quorum(target)):
        assert fault.quorum == (away if fault.aim.side == "quorum" else 0)
