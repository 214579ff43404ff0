"""Steps that end nodes, roll them, and change ZooKeeper's tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from kazoo.client import KazooClient

from harness.engine.context import Missed, StepError
from harness.engine.steps import perform
from harness.engine.znodes import change_znode
from harness.plan.base import PlanModel
from harness.plan.steps import Roll, Shutdown, ZnodeStep
from harness.targets.zookeeper import ZooKeeperServers
from harness.targets.zookeeper_jars import found_jars
from tests.faults.fake import FakeCluster
from tests.harness.engine.stage import healthy, stage


@dataclass
class Stoppable(FakeCluster):
    """`stubborn`: nobody heeds SIGTERM."""

    stubborn: bool = False

    def shut_down(self, node: str) -> None:
        self.calls.append(f"shut down {node}")

    def await_end(self, node: str, timeout: float) -> bool:
        self.calls.append(f"await the end of {node}")
        return not self.stubborn

    def set_level(self, node: str, level: str) -> None:
        self.calls.append(f"set {node} to {level}")

    def await_ready(self, node: str, timeout: float) -> None:
        self.calls.append(f"await {node}")


def _do(step: PlanModel, cluster: Stoppable, path: Path) -> dict[str, Any]:
    done = perform(cast("Any", step), "step", stage(path, healthy(), cluster), cast("Any", None))
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


def test_a_node_that_does_not_end_in_time_ends_the_story(tmp_path: Path) -> None:
    with pytest.raises(Missed, match="node-4 did not end within 10 ms of SIGTERM"):
        _do(Shutdown(nodes="node-4", within_ms=10), Stoppable(stubborn=True), tmp_path)


@pytest.mark.parametrize(
    ("how", "first"), [("kill", ["kill node-4"]), ("shutdown", ["shut down node-4", "await the end of node-4"])]
)
def test_a_rolled_node_is_back_at_its_new_level(how: Any, first: list[str], tmp_path: Path) -> None:
    cluster = Stoppable()
    _do(Roll(node="leader:t-0", level="heartbeats", how=how), cluster, tmp_path)
    assert cluster.calls == [*first, "set node-4 to heartbeats", "start node-4", "await node-4"]


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
    with ZooKeeperServers(jars).lonely(tmp_path) as endpoint:
        hosts = str(endpoint)
        assert change_znode(ZnodeStep(action="create", path="/a", data="one"), hosts) == "/a"
        assert change_znode(ZnodeStep(action="create", path="/a/n_", sequence=True), hosts) == "/a/n_0000000000"
        change_znode(ZnodeStep(action="set", path="/a", data="two"), hosts)
        with pytest.raises(StepError, match="could not create /a: NodeExistsError"):
            change_znode(ZnodeStep(action="create", path="/a"), hosts)
        change_znode(ZnodeStep(action="delete", path="/a/n_0000000000"), hosts)
        client = KazooClient(hosts)
        client.start(5)
        try:
            assert client.get("/a")[0] == b"two"
            assert client.get_children("/a") == []
        finally:
            client.stop()
            client.close()


def test_without_a_server_a_znode_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.engine.znodes.CONNECT_WITHIN", 0.1)
    with pytest.raises(StepError, match=r"no ZooKeeper server took a session within 0\.1 s"):
        change_znode(ZnodeStep(action="delete", path="/a"), "127.0.0.1:1")
