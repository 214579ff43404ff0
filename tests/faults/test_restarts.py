"""The claims of process and identity faults about ends and starts are measured."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any, cast

import pytest

import fencepost.faults.identity.duplicate
import fencepost.faults.links.link_fault
import fencepost.faults.processes.late_bytes
from fencepost.faults.capabilities import CapabilityError, Claim, Cluster, ProcessStatus, RoundTrip, Running
from fencepost.faults.fault import Fault
from fencepost.faults.processes import process_fault
from fencepost.faults.processes.crash_loop import CrashLoop
from fencepost.faults.registry import build
from tests.faults.fake import FakeCluster, cluster_of


@pytest.fixture(autouse=True)
def _short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fencepost.faults.links.link_fault, "TIMEOUT_S", 0.0)
    monkeypatch.setattr(fencepost.faults.identity.duplicate, "READY_TIMEOUT_S", 0.0)
    monkeypatch.setattr(fencepost.faults.processes.late_bytes, "DRAINED_WITHIN", 0.0)
    monkeypatch.setattr(fencepost.faults.processes.late_bytes, "QUEUED_WITHIN", 0.0)
    monkeypatch.setattr(fencepost.faults.processes.late_bytes, "SILENT_WITHIN", 0.0)


@pytest.fixture
def cluster() -> FakeCluster:
    return cluster_of("node-1", "node-4", "node-5")


def _injected(cluster: FakeCluster, name: str, **params: Any) -> Fault:
    fault = build(name, cluster, params)
    fault.set_up()
    fault.inject()
    return fault


def test_every_crash_of_a_loop_is_one_of_another_process(cluster: FakeCluster) -> None:
    fault = _injected(cluster, "crash-loop", node="node-4", lives_ms=[0, 0, 5])
    assert isinstance(fault, CrashLoop)
    assert len({crash.status.pid for crash in fault.crashes}) == 4
    assert fault.crashes[-1].lived_ms >= 5
    assert cluster.calls == ["kill node-4", *["start node-4", "kill node-4"] * 3]


def test_a_loop_in_which_a_process_ended_by_itself_is_not_proven(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(node: str) -> None:
        cluster.running[node] = ProcessStatus(Running.EXITED, pid=9, exit_code=1)

    fault = build("crash-loop", cluster, {"node": "node-4", "lives_ms": [0]})
    fault.set_up()
    monkeypatch.setattr(cluster, "start", start)
    fault.inject()
    evidence = fault.verify()
    assert not evidence.proven
    assert "'exit_code': 1" in str(evidence.measured)


def test_a_life_may_be_counted_from_what_the_node_logs(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _injected(cluster, "crash-loop", node="node-4", lives_ms=[0], says="^it runs$").verify().proven
    monkeypatch.setattr("fencepost.faults.processes.crash_loop.READY_TIMEOUT_S", 0.0)
    with pytest.raises(CapabilityError, match="node-5 logged nothing with 'it flies'"):
        _injected(cluster, "crash-loop", node="node-5", lives_ms=[0], says="it flies")


@pytest.mark.parametrize(("exit_code", "orderly"), [(0, True), (143, True), (-15, True), (1, False), (-9, False)])
def test_how_a_node_ended_tells_whether_it_answered_sigterm(
    exit_code: int, orderly: bool, cluster: FakeCluster
) -> None:
    fault = _injected(cluster, "terminate", nodes=["node-4"])
    cluster.running["node-4"] = ProcessStatus(Running.EXITED, pid=1, exit_code=exit_code)
    assert fault.verify().proven is orderly


def test_a_wrong_exit_code_after_sigterm_is_named_with_the_last_error_and_no_contradiction(
    cluster: FakeCluster,
) -> None:
    fault = _injected(cluster, "terminate", nodes=["node-4", "node-5"])
    cluster.running["node-4"] = ProcessStatus(Running.EXITED, pid=1, exit_code=2)
    cluster.last_words["node-4"] = ("panic: close of closed channel", "", "goroutine 1 [running]:")
    shortfall = fault.verify().shortfall
    assert shortfall == "after SIGTERM node-4 ended with exit code 2 (panic: close of closed channel)"
    assert "on request" not in shortfall


@pytest.mark.parametrize(("how", "verb"), [("kill", "kill"), ("shutdown", "shut down")])
def test_nodes_are_rolled_one_after_the_other(how: str, verb: str, cluster: FakeCluster) -> None:
    _injected(cluster, "rolling-restart", nodes=["node-4", "node-5"], how=how)
    assert cluster.calls == [f"{verb} node-4", "start node-4", f"{verb} node-5", "start node-5"]


def test_a_node_that_has_nothing_has_nothing_to_lose(cluster: FakeCluster) -> None:
    cluster.kill("node-5")
    cluster.written["node-5"] = -10
    cluster.start("node-5")
    with pytest.raises(CapabilityError, match="cannot empty node-5: its directories hold no partition"):
        build("emptied", cluster, {"nodes": ["node-4", "node-5"]}).set_up()


def test_a_copy_with_nothing_newer_after_it_proves_nothing(cluster: FakeCluster) -> None:
    fault = build("restored", cluster, {"node": "node-4", "backup": "monday"})
    cluster.copies["node-4", "monday"] = 100
    fault.set_up()
    fault.inject()
    assert not fault.verify().proven


def test_a_copy_that_was_never_made_is_refused_before_anything_is_broken(cluster: FakeCluster) -> None:
    with pytest.raises(CapabilityError, match="node-4 has no copy 'tuesday'"):
        build("restored", cluster, {"node": "node-4", "backup": "tuesday"}).set_up()
    assert cluster.calls == []


def test_a_copy_is_made_while_the_process_is_stopped(cluster: FakeCluster) -> None:
    _injected(cluster, "restored", node="node-4", age_ms=0)
    assert cluster.calls == ["pause node-4", "resume node-4", "kill node-4"]


def test_the_last_of_several_nodes_has_the_whole_bound_however_long_the_others_took(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what the others left of it, one that had served for long was noted silent after a single look of 0.1 s."""
    clock, asked = itertools.count(0, 40), []

    def await_ready(node: str, timeout: float, since: float | None = None) -> None:
        asked.append((node, timeout, since))

    monkeypatch.setattr(process_fault, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(cluster, "await_ready", await_ready)
    process_fault.await_ready(cast("Cluster", cluster), ["node-1", "node-4", "node-5"])
    assert asked == [(node, 60.0, 0.0) for node in ("node-1", "node-4", "node-5")]


@pytest.mark.parametrize(
    ("answers", "ends", "outcome"),
    [(False, True, "refused"), (True, True, "fatal later"), (False, False, "silent")],
)
def test_a_node_that_does_not_serve_on_its_files_gets_them_back_and_starts_once_more(
    answers: bool, ends: bool, outcome: str, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused is kept apart from taken and fatal later, and both from a node that neither serves nor ends."""

    def await_ready(node: str, timeout: float, since: float | None = None) -> None:
        if node in cluster.damaged:
            if ends:
                cluster.running[node] = ProcessStatus(Running.EXITED, pid=9, exit_code=1)
            if not answers:
                raise CapabilityError(f"{node} has ended")

    monkeypatch.setattr(cluster, "await_ready", await_ready)
    cluster.last_words["node-4"] = ("no cluster id", *["\tat kafka.Kafka.main(Kafka.scala:75)"] * 9)
    fault = _injected(cluster, "damaged-file", node="node-4", file="meta.properties", damage="garbage")
    assert fault.verify().proven
    fault.recover()
    healed = fault.verify_healed()
    assert healed.proven
    assert healed.measured[outcome] == ["it runs", "no cluster id"]
    assert {"refused", "fatal later", "silent", "taken"} & set(healed.measured) == {outcome}
    assert not cluster.damaged
    assert ("kill node-4" in cluster.calls[1:]) is not ends


def test_a_node_that_refuses_stale_blocks_gets_the_bytes_of_before(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def await_ready(node: str, timeout: float, since: float | None = None) -> None:
        if node in cluster.broken_disks.stale:
            cluster.running[node] = ProcessStatus(Running.EXITED, pid=9, exit_code=1)
            raise CapabilityError(f"{node} has ended")

    monkeypatch.setattr(cluster, "await_ready", await_ready)
    fault = _injected(cluster, "stale-blocks", node="node-4", file="quorum-state")
    assert fault.verify().proven
    fault.recover()
    healed = fault.verify_healed()
    assert healed.proven
    assert "refused" in healed.measured
    assert not cluster.broken_disks.stale


def test_files_that_are_not_there_are_not_damaged(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.faults.fake.FakeDirectories.files", lambda *_: {})
    with pytest.raises(CapabilityError, match="node-4 has no file that matches 'quorum-state'"):
        _injected(cluster, "damaged-file", node="node-4", file="quorum-state")


@pytest.mark.parametrize("nodes", [["node-4"], ["node-1", "node-4", "node-5"]])
def test_only_two_nodes_exchange_their_directories(nodes: list[str], cluster: FakeCluster) -> None:
    with pytest.raises(CapabilityError, match="two nodes exchange their directories"):
        build("swapped", cluster, {"nodes": nodes}).set_up()


def test_a_node_that_is_corrected_already_is_not_killed_once_more(cluster: FakeCluster) -> None:
    fault = _injected(cluster, "foreign-cluster", node="node-4")
    assert cluster.claims["node-4"] == Claim(4, 4, "f0reignClusterId0000AA")
    fault.recover()
    cluster.calls.clear()
    fault.recover()
    assert cluster.calls == []
    assert cluster.claims["node-4"] == Claim(4, 4, "own")


def test_a_misconfigured_node_that_ends_by_itself_while_it_is_healed_is_corrected_all_the_same(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = _injected(cluster, "changed-id", node="node-4", id=9)

    def gone(node: str) -> None:
        cluster.running[node] = ProcessStatus(Running.EXITED, pid=9, exit_code=1)
        raise CapabilityError(f"{node} is not running, exited: start it first")

    monkeypatch.setattr(cluster, "kill", gone)
    fault.recover()
    assert fault.verify_healed().proven


def test_an_id_that_no_node_has_is_taken_unless_one_is_named(cluster: FakeCluster) -> None:
    _injected(cluster, "changed-id", node="node-4")
    _injected(cluster, "changed-id", node="node-5", id=4)
    assert (cluster.claims["node-4"].configured_id, cluster.claims["node-5"].configured_id) == (7, 4)


@pytest.mark.parametrize(
    ("words", "proven"), [("data is in use by another process", True), ("no space left on device", False)]
)
def test_a_second_process_on_one_directory_has_to_end_over_that(words: str, proven: bool, cluster: FakeCluster) -> None:
    cluster.last_words["node-4b"] = (words,)
    assert _injected(cluster, "duplicate", node="node-4b").verify().proven is proven


def test_late_bytes_are_let_go_when_the_successor_runs(cluster: FakeCluster) -> None:
    fault = _injected(cluster, "late-bytes", node="node-4", to=["node-1"], queued_ms=0)
    assert fault.nodes() == {"node-4"}
    assert fault.links() == {("node-4", "node-1")}
    assert fault.verify().proven
    fault.recover()
    assert fault.verify_healed().proven


def test_links_that_took_the_last_request_as_they_were_stopped_hold_the_next_one(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for that answer, and sends nothing meanwhile."""
    monkeypatch.setattr(fencepost.faults.processes.late_bytes, "QUEUED_WITHIN", 60.0)
    monkeypatch.setattr(fencepost.faults.processes.late_bytes, "SILENT_WITHIN", 0.0)
    asked: list[int] = []
    restore, taken = cluster.restore, cluster.taken

    def answered(source: str, destination: str) -> None:
        asked.append(len(asked))
        restore(source, destination)

    monkeypatch.setattr(cluster, "restore", answered)
    monkeypatch.setattr(cluster, "taken", lambda *pair: taken(*pair) if asked else {"its": 100})
    assert _injected(cluster, "late-bytes", node="node-4", to=["node-1"], queued_ms=0).verify().proven
    assert asked == [0]


def test_bytes_that_the_measurement_itself_sent_prove_nothing(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    probes: dict[str, int] = {}
    round_trip = cluster.round_trip

    def measured(source: str, destination: str, timeout: float) -> RoundTrip:
        probes[f"probe-{len(probes)}"] = 14
        return round_trip(source, destination, timeout)

    monkeypatch.setattr(cluster, "round_trip", measured)
    monkeypatch.setattr(cluster, "taken", lambda source, destination: dict(probes))
    assert not _injected(cluster, "late-bytes", node="node-4", to=["node-1"], queued_ms=0).verify().proven


def test_bytes_whose_destination_closed_the_connection_need_not_arrive(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = _injected(cluster, "late-bytes", node="node-4", to=["node-1"], queued_ms=0)
    monkeypatch.setattr(cluster, "taken", lambda source, destination: {})
    fault.recover()
    evidence = fault.verify_healed()
    assert evidence.proven
    assert "their destinations had closed them before" in evidence.how


@pytest.mark.parametrize(("taken", "arrived"), [(0, 0), (100, 0), (130, 30)])
def test_of_bytes_that_were_refused_those_count_that_came_before(
    taken: int, arrived: int, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link had passed on 100 bytes of that connection before it held any."""
    cluster.sent["node-4", "node-1"] = 100
    fault = _injected(cluster, "late-bytes", node="node-4", to=["node-1"], queued_ms=0)
    monkeypatch.setattr(cluster, "cut_short", lambda source, destination: {"its": taken, "another": 70})
    fault.recover()
    evidence = fault.verify_healed()
    assert evidence.proven == (arrived > 0)
    assert evidence.measured["given"] == ({"node-4 to node-1": {"its": arrived}} if arrived else {})
    assert ("nothing of the held bytes was passed on" in evidence.how) == (arrived == 0)
