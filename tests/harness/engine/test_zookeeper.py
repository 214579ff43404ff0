"""References and conditions of a cluster that keeps its state in ZooKeeper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.clients.metadata.image import AdvertisedListener, BrokerEntry, Image
from fencepost.harness.clients.views import Answer, BrokerView, ControllerView, Observation, PartitionView, ServerView
from fencepost.harness.clients.zookeeper.connection import Znode as ZnodeFound
from fencepost.harness.engine.conditions import evaluation, holds, seen
from fencepost.harness.engine.errors import UnresolvedRole
from fencepost.harness.plan.conditions import Await
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.assignment_is import AssignmentIs
from fencepost.harness.plan.conditions.broker_active import BrokerActive
from fencepost.harness.plan.conditions.broker_fenced import BrokerFenced
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.conditions.node_exited import NodeExited
from fencepost.harness.plan.conditions.registered import Registered
from fencepost.harness.plan.conditions.replica_offline import ReplicaOffline
from fencepost.harness.plan.conditions.znode import Znode
from tests.harness.engine.still_context import IN_ZOOKEEPER, image, in_zookeeper, partition, serving, still_context


def of(kind: Callable[..., Any], **params: Any) -> Any:
    return kind(within_ms=1, **params)


def moving() -> Image:
    return image(replace(partition(4, 4, 5), adding=(6,)))


def offline_at(node: str, *ids: int) -> Observation:
    view = BrokerView(Answer.SERVING, frozenset({4, 5}), {"t-0": PartitionView("t", 0, 4, 3, (4, 5), ids)})
    return in_zookeeper(brokers={"node-4": serving(), "node-5": serving()} | {node: view})


FOUND = in_zookeeper(znodes={"/a": ZnodeFound(b'{"brokerid":4}', 1, 1, 0), "/b": None})
INACTIVE_5 = in_zookeeper(image=image(broker_5="inactive"))
UNLISTED_5 = in_zookeeper(image=image(broker_5="registered"))
GONE_5 = in_zookeeper(image=image(broker_5="gone"))
NO_CONTROLLER = in_zookeeper(controllers={})
NO_NEWS = in_zookeeper(controllers={}, news=False)


@pytest.mark.parametrize(
    ("condition", "now", "holds_now"),
    [
        (of(Registered, node="node-5"), in_zookeeper(), True),
        (of(Registered, node="node-5"), INACTIVE_5, True),
        (of(Registered, node="node-5"), GONE_5, False),
        (of(Registered, node="node-5", is_=False), GONE_5, True),
        (of(Registered, node="node-5", is_=False), in_zookeeper(image=Image()), True),
        (of(BrokerActive, node="node-5"), in_zookeeper(), True),
        (of(BrokerActive, node="node-5"), INACTIVE_5, False),
        (of(BrokerFenced, node="node-5"), INACTIVE_5, True),
        (of(BrokerFenced, node="node-5"), GONE_5, True),
        (of(BrokerFenced, node="node-5"), UNLISTED_5, False),
        (of(BrokerActive, node="node-5"), UNLISTED_5, False),
        (of(BrokerFenced, node="node-5"), in_zookeeper(), False),
        (of(Znode, path="/a"), FOUND, True),
        (of(Znode, path="/a", has='"brokerid":4'), FOUND, True),
        (of(Znode, path="/a", has='"brokerid":5'), FOUND, False),
        (of(Znode, path="/a", exists=False), FOUND, False),
        (of(Znode, path="/b", exists=False), FOUND, True),
        (of(Znode, path="/b"), FOUND, False),
        (of(Znode, path="/not-read-yet", exists=False), FOUND, False),
        (of(AssignmentIs, partition="t-0", is_=("node-4", "node-5")), in_zookeeper(), True),
        (of(AssignmentIs, partition="t-0", is_=("node-5", "node-4")), in_zookeeper(), False),
        (of(AssignmentIs, partition="t-0", is_=("node-4", "node-5")), in_zookeeper(image=moving()), False),
        (of(ReplicaOffline, node="node-5", partition="t-0"), offline_at("node-4", 5), True),
        (of(ReplicaOffline, node="node-5", partition="t-0"), offline_at("node-5", 5), False),
        (of(ReplicaOffline, node="node-5", partition="t-0", asked="node-5"), offline_at("node-5", 5), True),
        (of(ReplicaOffline, node="node-5", partition="t-0"), in_zookeeper(), False),
        (of(ActiveController), in_zookeeper(), True),
        (of(ActiveController, is_="node-4"), in_zookeeper(), True),
        (of(ActiveController, is_not="node-4"), in_zookeeper(), False),
        (of(ActiveController), NO_CONTROLLER, False),
        (of(Converged), in_zookeeper(), True),
        (of(Converged), in_zookeeper(pending=("/admin/delete_topics/t",)), False),
        (of(Converged), in_zookeeper(servers={"zk-1": ServerView(Answer.REFUSING)}), False),
        (of(Converged), INACTIVE_5, False),
        (of(Converged), NO_NEWS, False),
    ],
)
def test_a_condition(condition: Await, now: Observation, holds_now: bool, tmp_path: Path) -> None:
    assert holds(evaluation(condition, "wait", still_context(tmp_path, now, plan=IN_ZOOKEEPER)).holds) is holds_now


def test_a_znode_that_is_waited_for_is_read(tmp_path: Path) -> None:
    context: Any = still_context(tmp_path, in_zookeeper(), plan=IN_ZOOKEEPER)
    evaluation(of(Znode, path="/admin/x"), "wait", context)
    assert context.clients.observer.wanted == {"/admin/x"}


def test_a_node_has_exited_with_the_code_that_is_waited_for(tmp_path: Path) -> None:
    context = still_context(tmp_path, in_zookeeper(), plan=IN_ZOOKEEPER)
    context.cluster.processes.kill("node-4")
    assert holds(evaluation(of(NodeExited, node="node-4"), "wait", context).holds)
    assert holds(evaluation(of(NodeExited, node="node-4", code=-9), "wait", context).holds)
    assert not holds(evaluation(of(NodeExited, node="node-4", code=1), "wait", context).holds)


def test_roles_of_a_zookeeper_cluster_lead_to_nodes(tmp_path: Path) -> None:
    context = still_context(tmp_path, in_zookeeper(), plan=IN_ZOOKEEPER)
    assert context.references.nodes("zookeeper") == ("zk-1", "zk-2")
    assert context.references.node("zookeeper-leader") == "zk-2"
    assert context.references.node("active-controller") == "node-4"
    assert context.references.nodes("brokers") == ("node-4", "node-5")


def test_roles_lead_to_the_process_that_registered_the_id(tmp_path: Path) -> None:
    taken = BrokerEntry(4, 20, "active", 20, 5, (AdvertisedListener("INTERNAL", "node-4b", 9090),))
    found = image()
    now = in_zookeeper(
        image=replace(found, brokers={**found.brokers, 4: taken}),
        controllers={"node-4b": ControllerView(leader=4, epoch=6)},
    )
    context = still_context(tmp_path, now, plan=IN_ZOOKEEPER)
    assert context.references.node("leader:t-0") == "node-4b"
    assert context.references.node("active-controller") == "node-4b"
    assert context.references.nodes("brokers") == ("node-4", "node-5")


def test_an_ensemble_without_a_leader_leaves_the_role_vacant(tmp_path: Path) -> None:
    context = still_context(tmp_path, in_zookeeper(servers={}), plan=IN_ZOOKEEPER)
    with pytest.raises(UnresolvedRole, match="no ZooKeeper server says that it leads"):
        context.references.nodes_now("zookeeper-leader")


@pytest.mark.parametrize(
    ("condition", "now", "message"),
    [
        (of(Registered, node="node-5"), INACTIVE_5, "node-5 is inactive at epoch 15 for the controllers, and serving"),
        (of(Znode, path="/a"), FOUND, "/a holds '{\"brokerid\":4}'"),
        (of(Znode, path="/b"), FOUND, "/b does not exist"),
        (
            of(AssignmentIs, partition="t-0", is_="node-4"),
            in_zookeeper(image=moving()),
            "t-0 is assigned to [4, 5], adding [6]",
        ),
        (of(ReplicaOffline, node="node-5", partition="t-0"), in_zookeeper(), "node-4 lists [] as offline replicas"),
        (of(ActiveController, is_not="node-4"), in_zookeeper(), "node-4 holds /controller at epoch 5"),
        (of(ActiveController), NO_CONTROLLER, "no broker holds /controller"),
        (of(Converged), NO_NEWS, "no ZooKeeper server answers"),
        (of(Converged), in_zookeeper(servers={}), "zk-1 is unknown when asked"),
        (of(Converged), in_zookeeper(pending=("/admin/delete_topics/t",)), "/admin/delete_topics/t is not done yet"),
    ],
)
def test_the_state_in_its_place_is_described(condition: Await, now: Observation, message: str, tmp_path: Path) -> None:
    context = still_context(tmp_path, now, plan=IN_ZOOKEEPER)
    waited = evaluation(condition, "wait", context)
    holds(waited.holds)
    assert seen(waited).startswith(message)
