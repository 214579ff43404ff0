"""Steps that end nodes, roll them, and change ZooKeeper's tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from kazoo.client import KazooClient

from fencepost.harness.engine.errors import StepError, StepTimeout
from fencepost.harness.engine.execute import perform
from fencepost.harness.engine.performed import change_znode
from fencepost.harness.plan.base import Expect, Level, PlanModel
from fencepost.harness.plan.conditions.runs_release import RunsRelease
from fencepost.harness.plan.steps.roll import Roll
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.harness.targets.registry import load_file
from fencepost.harness.targets.zookeeper import ZooKeeperServers
from fencepost.harness.targets.zookeeper_jars import found_jars
from tests.faults.fake import FakeCluster
from tests.harness.engine.still_context import healthy, still_context


@dataclass
class Stoppable(FakeCluster):
    """`stubborn`: no node ends after SIGTERM."""

    stubborn: bool = False

    def shut_down(self, node: str) -> None:
        self.calls.append(f"shut down {node}")

    def await_end(self, node: str, timeout: float) -> bool:
        self.calls.append(f"await the end of {node}")
        return not self.stubborn

    def set_version(self, node: str, release: str | None, level: str | None) -> None:
        self.calls.append(f"set {node} to {release or level}")

    def await_ready(self, node: str, timeout: float, since: float | None = None) -> None:
        self.calls.append(f"await {node}")


def _do(step: PlanModel, cluster: Stoppable, path: Path) -> dict[str, Any]:
    done = perform(cast("Any", step), "step", still_context(path, healthy(), cluster), cast("Any", None))
    return dict(done)


def test_nodes_are_asked_to_end_together_and_then_waited_for(tmp_path: Path) -> None:
    cluster = Stoppable()
    done = _do(Shutdown(nodes="brokers"), cluster, tmp_path)
    assert done == {"outcome": "done", "nodes": ["node-4", "node-5"]}
    assert cluster.calls == [
        "shut down node-4",
        "shut down node-5",
        "await the end of node-4",
        "await the end of node-5",
    ]


def test_a_shutdown_may_be_left_to_a_later_step(tmp_path: Path) -> None:
    cluster = Stoppable(stubborn=True)
    _do(Shutdown(nodes="node-4", until="asked"), cluster, tmp_path)
    assert cluster.calls == ["shut down node-4"]


def test_a_node_that_does_not_end_in_time_ends_the_scenario(tmp_path: Path) -> None:
    with pytest.raises(StepTimeout, match="node-4 did not end within 10 ms of SIGTERM"):
        _do(Shutdown(nodes="node-4", within_ms=10), Stoppable(stubborn=True), tmp_path)


@pytest.mark.parametrize(
    ("how", "first"), [("kill", ["kill node-4"]), ("shutdown", ["shut down node-4", "await the end of node-4"])]
)
def test_a_rolled_node_is_back_at_its_new_level(how: Any, first: list[str], tmp_path: Path) -> None:
    cluster = Stoppable()
    _do(Roll(node="leader:t-0", level="heartbeats", how=how), cluster, tmp_path)
    assert cluster.calls == [*first, "set node-4 to heartbeats", "start node-4", "await node-4"]


@dataclass
class Spoken(Stoppable):
    """Each process logs `lines`."""

    lines: tuple[str, ...] = ()

    def said(self, node: str) -> tuple[str, ...]:
        return self.lines


def _upgrade(cluster: Spoken, path: Path, step: PlanModel) -> dict[str, Any]:
    context = still_context(path, healthy(), cluster)
    file = load_file("apache-kafka:3.9.1..4.3.1")
    cast("Any", cluster).target = SimpleNamespace(file=file, version="3.9.1..4.3.1")
    return dict(perform(cast("Any", step), "step", context, cast("Any", None)))


def test_an_upgraded_node_says_that_it_runs_the_new_release(tmp_path: Path) -> None:
    cluster = Spoken(lines=("INFO starting", "INFO AppInfoParser Kafka version: 4.3.1 (org.apache...)"))
    done = _upgrade(cluster, tmp_path, Roll(node="node-4", release="new"))
    assert done == {"outcome": "done", "node": "node-4", "release": "4.3.1"}
    assert cluster.calls[-3:] == ["set node-4 to new", "start node-4", "await node-4"]
    with pytest.raises(StepError, match=r"node-4 was started with the release 3.9.1, but its log says 4.3.1"):
        _upgrade(cluster, tmp_path, Roll(node="node-4", release="old"))


def test_a_node_whose_log_names_no_release_is_not_taken_for_upgraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.harness.plan.steps.roll.READY_WITHIN", 0.0)
    with pytest.raises(StepError, match="its log has not said which release it runs after 0 s"):
        _upgrade(Spoken(), tmp_path, Roll(node="node-4", release="new"))


@pytest.mark.parametrize(("release", "outcome"), [("old", "done"), ("new", "missed")])
def test_a_plan_awaits_the_release_that_a_node_runs(release: Any, outcome: str, tmp_path: Path) -> None:
    may = Expect(level=Level.MAY, requirement="UPG-05")
    step = RunsRelease(node="node-4", release=release, within_ms=1, expect=may)
    done = _upgrade(Spoken(lines=("Kafka version : 3.9.1",)), tmp_path, step)
    assert (done["outcome"], done["release"]) == (outcome, "3.9.1")


def test_a_node_that_does_not_end_is_not_rolled(tmp_path: Path) -> None:
    cluster = Stoppable(stubborn=True)
    with pytest.raises(StepError, match="so it could not be rolled"):
        _do(Roll(node="node-4", level="heartbeats"), cluster, tmp_path)
    assert "start node-4" not in cluster.calls


@pytest.mark.integration
def test_a_plan_writes_in_zookeeper_s_tree(tmp_path: Path) -> None:
    jars = found_jars()
    if jars is None:
        pytest.skip("there are no jars of ZooKeeper here")
    with ZooKeeperServers(jars).standalone(tmp_path) as endpoint:
        hosts = str(endpoint)
        assert change_znode("create", "/a", "one", hosts) == "/a"
        assert change_znode("create", "/a/n_", "", hosts, sequence=True) == "/a/n_0000000000"
        change_znode("set", "/a", "two", hosts)
        with pytest.raises(StepError, match="could not create /a: NodeExistsError"):
            change_znode("create", "/a", "", hosts)
        change_znode("delete", "/a/n_0000000000", "", hosts)
        client = KazooClient(hosts)
        client.start(5)
        try:
            assert client.get("/a")[0] == b"two"
            assert client.get_children("/a") == []
        finally:
            client.stop()
            client.close()


def test_without_a_server_a_znode_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.harness.engine.performed.CONNECT_WITHIN", 0.1)
    with pytest.raises(StepError, match=r"no ZooKeeper server took a session within 0\.1 s"):
        change_znode("delete", "/a", "", "127.0.0.1:1")


def test_a_change_of_a_znode_that_may_fail_lets_the_scenario_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: str, sequence: bool) -> str:
        raise StepError("could not create /a: NodeExistsError")

    monkeypatch.setattr("fencepost.harness.engine.performed.change_znode", refuse)
    cluster = Stoppable()
    monkeypatch.setattr(cluster, "layout", SimpleNamespace(ensemble=lambda: "127.0.0.1:1"), raising=False)
    with pytest.raises(StepError, match="NodeExistsError"):
        _do(ZnodeStep(action="create", path="/a"), cluster, tmp_path)
    done = _do(ZnodeStep(action="create", path="/a", may_fail=True), cluster, tmp_path)
    assert done == {"outcome": "done", "path": "/a", "message": "could not create /a: NodeExistsError"}
