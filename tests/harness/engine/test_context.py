"""References lead to nodes as things are now; values to the numbers that are sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.clients.views import Answer, ControllerView
from fencepost.harness.engine.errors import StepError, UnresolvedRole
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.plan.model import NodeSpec, Topology
from tests.harness.engine.still_context import PLAN, healthy, image, partition, still_context


@pytest.mark.parametrize(
    ("ref", "nodes"),
    [
        ("node-5", ("node-5",)),
        ("node-4b", ("node-4b",)),
        ("controllers", ("node-1", "node-2")),
        ("brokers", ("node-4", "node-5")),
        ("active-controller", ("node-2",)),
        ("leader:t-0", ("node-4",)),
        ("followers:t-0", ("node-5",)),
        ("$old", ("node-4",)),
        (("node-5", "brokers"), ("node-5", "node-4")),
        (None, ()),
    ],
)
def test_a_reference_leads_to_nodes(ref: str | tuple[str, ...] | None, nodes: tuple[str, ...], tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    context.references.bound["old"] = "node-4"
    assert context.references.nodes(ref) == nodes


def test_of_two_that_claim_to_be_active_the_newer_epoch_is(tmp_path: Path) -> None:
    claims = {
        "node-1": ControllerView(Answer.SERVING, leader=1, epoch=6),
        "node-2": ControllerView(Answer.SERVING, leader=2, epoch=5),
    }
    assert still_context(tmp_path, healthy(controllers=claims)).references.active_controller() == "node-1"


def test_no_controller_is_active_while_the_newest_leader_has_not_said_so(tmp_path: Path) -> None:
    claims = {
        "node-1": ControllerView(Answer.SERVING, leader=2, epoch=6),
        "node-2": ControllerView(Answer.SERVING, leader=2, epoch=5),
    }
    with pytest.raises(UnresolvedRole, match="no controller says that it is active"):
        still_context(tmp_path, healthy(controllers=claims)).references.active_controller()


@pytest.mark.parametrize(
    ("ref", "message"), [("leader:t-0", "t-0 has no leader"), ("leader:t-1", "t-1 is not in the metadata log")]
)
def test_a_vacant_role_is_an_error_of_the_step(ref: str, message: str, tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy(image=image(partition(-1, 5))))
    with pytest.raises(StepError, match=message):
        context.references.node(ref)


def test_one_node_is_wanted_where_a_reference_leads_to_several(tmp_path: Path) -> None:
    with pytest.raises(StepError, match="`brokers` matches node-4, node-5; expected exactly one"):
        still_context(tmp_path, healthy()).references.node("brokers")


def test_values(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    context.references.bound |= {"epoch": 12, "node": "node-4"}
    assert context.references.number(-1, "the epoch", lambda: 7) == -1
    assert context.references.number("current", "the epoch", lambda: 7) == 7
    assert context.references.number("stale", "the epoch", lambda: 7) == 6
    assert context.references.number("$epoch", "the epoch", lambda: 7) == 12
    with pytest.raises(StepError, match=r"`\$node` is the node node-4, but the epoch is a number"):
        context.references.number("$node", "the epoch", lambda: 7)
    with pytest.raises(StepError, match="there is no earlier one to send as stale"):
        context.references.number("stale", "the epoch", lambda: 0)


def test_nothing_is_waited_for_once_what_carries_the_cluster_is_broken(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    cluster: Any = context.cluster
    cluster.lost.append("toxiproxy ended with signal SIGKILL")
    for wait in (context.clock.check_deadline, lambda: context.clock.wait(lambda: True, float("inf"))):
        with pytest.raises(InfrastructureError, match="toxiproxy ended with signal SIGKILL"):
            wait()


def test_a_process_of_two_roles_is_found_by_the_id_of_each(tmp_path: Path) -> None:
    nodes = tuple(
        NodeSpec(name=f"node-{id}", id=id, index=id, roles=("broker", "controller"), controller_id=id - 3)
        for id in (4, 5)
    )
    claims = {
        "node-4": ControllerView(Answer.SERVING, leader=2, epoch=5),
        "node-5": ControllerView(Answer.SERVING, leader=2, epoch=5),
    }
    plan = PLAN.model_copy(update={"topology": Topology(nodes=nodes)})
    references = still_context(tmp_path, healthy(controllers=claims), plan=plan).references
    assert references.nodes("active-controller") == ("node-5",)
    assert references.nodes("leader:t-0") == ("node-4",)
    assert references.nodes("controllers") == references.nodes("brokers") == ("node-4", "node-5")
