"""Faults do what they say, prove it by measurement, and undo it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from itertools import permutations
from typing import Any

import pytest

import fencepost.faults.clock.clock_fault
import fencepost.faults.links.link_fault
import fencepost.faults.processes.process_fault
from fencepost.faults.capabilities import (
    BOTH,
    HEALTHY,
    Broken,
    CapabilityError,
    Harm,
    LinkState,
    ProbeResult,
    Running,
    Stream,
)
from fencepost.faults.links.link_fault import harmed
from fencepost.faults.registry import FAULTS, UnknownFault, build, names_in_family
from tests.faults.cases import CASES
from tests.faults.fake import FakeCluster, cluster_of

FAKE = {name: case.fake for name, case in CASES.items()}


@pytest.fixture(autouse=True)
def _short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (
        fencepost.faults.links.link_fault,
        fencepost.faults.processes.process_fault,
        fencepost.faults.clock.clock_fault,
    ):
        monkeypatch.setattr(module, "TIMEOUT_S", 0.0)
    monkeypatch.setattr("fencepost.faults.links.flapping.SHORTEST_MS", dict.fromkeys(("cut", "stall", "blackhole"), 1))
    monkeypatch.setattr("fencepost.faults.identity.duplicate.READY_TIMEOUT_S", 0.0)
    monkeypatch.setattr("fencepost.faults.identity.renewed_certificate.TIMEOUT_S", 0.0)
    monkeypatch.setattr("fencepost.faults.users.credential_fault.TIMEOUT_S", 0.0)
    monkeypatch.setattr("fencepost.faults.processes.late_bytes.QUEUED_WITHIN", 0.0)
    monkeypatch.setattr("fencepost.faults.processes.late_bytes.SILENT_WITHIN", 0.0)
    monkeypatch.setattr("fencepost.faults.processes.late_bytes.DRAINED_WITHIN", 0.0)
    monkeypatch.setattr("fencepost.faults.containers.disconnect.TIMEOUT_S", 0.0)
    monkeypatch.setattr("fencepost.faults.messages.message_fault.HEALED_WITHIN", 0.0)


@pytest.fixture
def cluster() -> FakeCluster:
    return cluster_of("node-1", "node-2", "node-4", "node-5")


def test_every_fault_is_tested_here() -> None:
    assert set(CASES) == set(FAULTS), "each fault of the registry has an entry in tests/faults/cases.py"


@pytest.mark.parametrize(("name", "params"), FAKE.items())
def test_a_fault_is_proven_and_its_healing_too(name: str, params: Mapping[str, Any], cluster: FakeCluster) -> None:
    fault = build(name, cluster, params)
    fault.set_up()
    fault.inject()
    assert fault.verify().proven
    fault.recover()
    fault.recover()
    assert fault.verify_healed().proven
    assert set(cluster.states.values()) <= {HEALTHY}


@pytest.mark.parametrize(("name", "params"), FAKE.items())
def test_a_fault_that_had_no_effect_is_not_proven(name: str, params: Mapping[str, Any], cluster: FakeCluster) -> None:
    fault = build(name, cluster, params)
    fault.set_up()
    cluster.deaf = True
    fault.inject()
    assert not fault.verify().proven


@pytest.mark.parametrize(("name", "params"), FAKE.items())
def test_healing_that_had_no_effect_is_not_proven(name: str, params: Mapping[str, Any], cluster: FakeCluster) -> None:
    fault = build(name, cluster, params)
    fault.set_up()
    fault.inject()
    cluster.deaf = cluster.never_ready = True
    fault.recover()
    assert not fault.verify_healed().proven


def test_one_way_holds_requests_there_and_replies_back(cluster: FakeCluster) -> None:
    build("one-way", cluster, {"from": ["node-4"], "to": ["node-1"]}).inject()
    assert cluster.states == {
        ("node-4", "node-1"): harmed(Harm.STALL, {Stream.REQUESTS}),
        ("node-1", "node-4"): harmed(Harm.STALL, {Stream.REPLIES}),
    }


def test_one_way_among_nodes_of_both_groups_holds_both_streams_of_each_link(cluster: FakeCluster) -> None:
    fault = build("one-way", cluster, {"from": ["node-4", "node-1"], "to": ["node-4", "node-1"]})
    fault.set_up()
    fault.inject()
    assert cluster.states == {pair: harmed(Harm.STALL, BOTH) for pair in (("node-4", "node-1"), ("node-1", "node-4"))}
    assert fault.verify().proven


def test_a_stall_of_replies_leaves_the_requests_alone(cluster: FakeCluster) -> None:
    build("stall", cluster, {"from": ["node-4"], "to": ["node-1"], "streams": "replies"}).inject()
    assert cluster.states == {("node-4", "node-1"): harmed(Harm.STALL, {Stream.REPLIES})}


def test_isolation_cuts_both_directions_and_spares_the_rest(cluster: FakeCluster) -> None:
    fault = build("isolate", cluster, {"nodes": ["node-4", "node-5"], "from": ["node-1"]})
    assert fault.links() == {
        ("node-4", "node-1"),
        ("node-5", "node-1"),
        ("node-1", "node-4"),
        ("node-1", "node-5"),
    }


@pytest.mark.parametrize("name", ["stall", "one-way"])
def test_bytes_are_not_held_on_links_of_a_paused_node(name: str, cluster: FakeCluster) -> None:
    cluster.pause("node-1")
    with pytest.raises(CapabilityError, match="node-1 is paused: set and heal stalls before the pause"):
        build(name, cluster, {"from": ["node-4"], "to": ["node-1"]}).set_up()


def test_a_link_of_a_paused_node_can_be_cut(cluster: FakeCluster) -> None:
    cluster.pause("node-1")
    fault = build("cut", cluster, {"from": ["node-4"], "to": ["node-1"]})
    fault.set_up()
    fault.inject()
    assert fault.verify().proven


def test_a_stall_is_not_released_while_its_node_is_paused(cluster: FakeCluster) -> None:
    fault = build("stall", cluster, {"from": ["node-4"], "to": ["node-1"]})
    fault.inject()
    cluster.pause("node-4")
    with pytest.raises(CapabilityError, match="cannot release"):
        fault.recover()


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("name", ["stall", "blackhole"])
def test_healing_tells_that_a_node_died_in_the_silence(name: str, back: bool, cluster: FakeCluster) -> None:
    fault = build(name, cluster, {"from": ["node-4"], "to": ["node-1", "node-5"]})
    fault.set_up()
    fault.inject()
    cluster.kill("node-1")
    if back:
        cluster.start("node-1")
    fault.recover()
    evidence = fault.verify_healed()
    assert evidence.proven
    assert "; node-1 ended meanwhile: the links held the ends of connections" in evidence.how


def test_a_silent_link_that_lets_the_end_of_a_connection_through_is_not_proven(cluster: FakeCluster) -> None:
    fault = build("stall", cluster, {"from": ["node-4"], "to": ["node-1"]})
    fault.set_up()
    fault.inject()
    assert fault.verify().proven
    cluster.open["node-4", "node-1"][0].end = ProbeResult.CLOSED
    fault.recover()
    evidence = fault.verify_healed()
    assert (evidence.proven, evidence.how) == (
        False,
        "connections ended while their links were to be silent: node-4 to node-1",
    )


def test_links_to_a_node_that_died_meanwhile_count_as_healed(cluster: FakeCluster) -> None:
    fault = build("cut", cluster, {"from": ["node-4"], "to": ["node-1"]})
    fault.set_up()
    fault.inject()
    cluster.kill("node-1")
    fault.recover()
    assert fault.verify_healed().proven


@pytest.mark.parametrize("name", ["kill", "pause"])
def test_a_node_that_does_not_run_cannot_be_broken(name: str, cluster: FakeCluster) -> None:
    cluster.kill("node-5")
    with pytest.raises(CapabilityError, match=f"cannot {name} node-5: it is exited"):
        build(name, cluster, {"nodes": ["node-4", "node-5"]}).set_up()


def test_a_duplicate_that_exits_at_once_is_not_proven(cluster: FakeCluster) -> None:
    fault = build("duplicate", cluster, {"node": "node-4b"})
    fault.inject()
    cluster.kill("node-4b")
    assert not fault.verify().proven


def test_healing_starts_only_what_is_down(cluster: FakeCluster) -> None:
    fault = build("kill", cluster, {"nodes": ["node-4", "node-5"]})
    fault.inject()
    cluster.start("node-4")
    cluster.calls.clear()
    fault.recover()
    assert cluster.calls == ["start node-5"]
    assert cluster.status("node-5").running is Running.RUNNING


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("stal", {}, "did you mean `stall`?"),
        ("explode", {}, "there are: clock-jump, clock-skew"),
        ("cut", {"from": [], "too": []}, "the fault `cut` has no parameter `too`; did you mean `to`?"),
        ("cut", {"from": []}, "the fault `cut` lacks a parameter"),
    ],
)
def test_a_wrong_name_or_parameter_is_refused(
    name: str, params: Mapping[str, Any], message: str, cluster: FakeCluster
) -> None:
    with pytest.raises(UnknownFault) as refused:
        build(name, cluster, params)
    assert message in str(refused.value)


@pytest.mark.parametrize("name", ["kill", "pause"])
def test_several_nodes_are_broken_side_by_side(
    name: str, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = threading.Barrier(2, timeout=30)
    monkeypatch.setattr(cluster, name, lambda node: together.wait())
    build(name, cluster, {"nodes": ["node-4", "node-5"]}).inject()
    assert together.n_waiting == 0
    assert not together.broken


@pytest.mark.parametrize("how", ["replaced", "removed"])
def test_the_log_directory_that_fails_is_the_one_that_holds_the_partition(how: str, cluster: FakeCluster) -> None:
    cluster.held["node-4", "t-0"] = 2
    fault = build("log-dir", cluster, {"node": "node-4", "partition": "t-0", "how": how})
    fault.set_up()
    fault.inject()
    assert cluster.broken_dirs == {("node-4", 2): Broken(how)}
    assert fault.targets()["dir"] == 2
    assert fault.verify().proven


def test_a_partition_that_no_directory_holds_and_a_directory_that_is_broken_already_are_refused(
    cluster: FakeCluster,
) -> None:
    with pytest.raises(CapabilityError, match="no log directory of node-4 holds t-7"):
        build("log-dir", cluster, {"node": "node-4", "partition": "t-7"}).set_up()
    cluster.broken_dirs["node-4", 0] = Broken.REMOVED
    with pytest.raises(CapabilityError, match="cannot be opened already"):
        build("log-dir", cluster, {"node": "node-4", "dir": 0}).set_up()


def test_a_process_may_be_killed_while_its_log_directory_is_gone(cluster: FakeCluster) -> None:
    assert build("log-dir", cluster, {"node": "node-4", "dir": 0}).nodes() == frozenset()


def test_killed_nodes_are_started_side_by_side(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = build("kill", cluster, {"nodes": ["node-4", "node-5"]})
    fault.inject()
    together = threading.Barrier(2, timeout=30)
    monkeypatch.setattr(cluster, "start", lambda node: together.wait())
    fault.recover()
    assert not together.broken


def test_a_link_whose_proxies_differ_is_neither_broken_nor_healed(cluster: FakeCluster) -> None:
    fault = build("cut", cluster, {"from": ["node-4"], "to": ["node-1"]})
    fault.set_up()
    cluster.states["node-4", "node-1"] = LinkState(enabled=False, alike=False)
    assert not fault.verify().proven
    assert not fault.verify_healed().proven


@pytest.mark.parametrize("name", sorted(names_in_family("links")))
def test_a_link_that_only_says_that_it_is_broken_is_not_proven(name: str, cluster: FakeCluster) -> None:
    """Its proxy reports what was ordered, and a round trip goes through all the same."""
    cluster.numb = True
    it = build(name, cluster, FAKE[name])
    it.set_up()
    it.inject()
    assert not it.verify().proven


def test_a_bridge_spares_the_node_that_both_halves_share(cluster: FakeCluster) -> None:
    fault = build("bridge", cluster, {"nodes": ["node-4", "node-5"], "from": ["node-1", "node-2"], "over": "node-5"})
    assert fault.links() == {(a, b) for a, b in permutations(["node-4", "node-1", "node-2"], 2) if "node-4" in (a, b)}


def test_in_a_ring_each_node_keeps_its_two_neighbours(cluster: FakeCluster) -> None:
    ring = ["node-4", "node-1", "node-5", "node-2", "node-3"]
    cut = build("ring", cluster, {"nodes": ring}).links()
    for place, node in enumerate(ring):
        reached = {other for other in ring if other != node and (node, other) not in cut}
        assert reached == {ring[place - 1], ring[(place + 1) % len(ring)]}


def test_a_ring_of_three_is_refused(cluster: FakeCluster) -> None:
    with pytest.raises(CapabilityError, match="a ring of node-4, node-1, node-5 cuts nothing"):
        build("ring", cluster, {"nodes": ["node-4", "node-1", "node-5"]}).set_up()


def test_a_link_that_flaps_tells_of_a_change_that_did_not_show(cluster: FakeCluster) -> None:
    fault = build("flapping", cluster, {"nodes": ["node-4"], "from": ["node-1"], "on_ms": 1, "off_ms": 1, "count": 1})
    fault.set_up()
    cluster.deaf = True
    fault.inject()
    evidence = fault.verify()
    assert (evidence.proven, evidence.how.partition(":")[0]) == (False, "change 1 of 2, to broken")


def test_a_slow_link_is_as_fast_as_before_once_healed(cluster: FakeCluster) -> None:
    fault = build("slow", cluster, {"from": ["node-4"], "to": ["node-1"], "latency_ms": 50})
    fault.set_up()
    fault.inject()
    now = fault.verify().measured["node-4 to node-1"]
    assert isinstance(now, dict)
    assert now["now"]["ms"] - now["before"]["ms"] == 100
    fault.recover()
    assert fault.verify_healed().proven


def test_a_link_that_cannot_be_made_to_flap_is_reported_at_once(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise CapabilityError("the link is stuck")

    monkeypatch.setattr(cluster, "cut", refuse)
    fault = build("flapping", cluster, {"nodes": ["node-4"], "from": ["node-1"], "on_ms": 1, "off_ms": 1, "count": 9})
    fault.set_up()
    fault.inject()
    with pytest.raises(CapabilityError, match="the link is stuck"):
        fault.verify()
    fault.recover()


def test_a_node_that_is_busy_for_a_moment_can_be_disconnected(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.faults.containers.disconnect.TIMEOUT_S", 10.0)
    answers = iter([ProbeResult.SILENT, ProbeResult.ANSWERED])
    monkeypatch.setattr(cluster, "reach", lambda *_: next(answers))
    build("disconnect", cluster, {"nodes": "node-4"}).set_up()
    assert next(answers, None) is None
