"""References lead to nodes as things are now; values to the numbers that are sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.clients.views import Answer, ControllerView
from harness.engine.context import StepError, Vacant
from harness.errors import InfrastructureError
from tests.harness.engine.stage import healthy, image, partition, stage


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
    context = stage(tmp_path, healthy())
    context.bound["old"] = "node-4"
    assert context.nodes(ref) == nodes


def test_of_two_that_claim_to_be_active_the_newer_epoch_is(tmp_path: Path) -> None:
    claims = {
        "node-1": ControllerView(Answer.SERVING, leader=1, epoch=6),
        "node-2": ControllerView(Answer.SERVING, leader=2, epoch=5),
    }
    assert stage(tmp_path, healthy(controllers=claims)).active_controller() == "node-1"


def test_nobody_is_active_while_the_newest_leader_has_not_said_so(tmp_path: Path) -> None:
    claims = {
        "node-1": ControllerView(Answer.SERVING, leader=2, epoch=6),
        "node-2": ControllerView(Answer.SERVING, leader=2, epoch=5),
    }
    with pytest.raises(Vacant, match="no controller says that it is active"):
        stage(tmp_path, healthy(controllers=claims)).active_controller()


@pytest.mark.parametrize(
    ("ref", "sentence"), [("leader:t-0", "t-0 has no leader"), ("leader:t-1", "t-1 is not in the metadata log")]
)
def test_a_vacant_role_is_an_error_of_the_step(ref: str, sentence: str, tmp_path: Path) -> None:
    context = stage(tmp_path, healthy(image=image(partition(-1, 5))))
    with pytest.raises(StepError, match=sentence):
        context.node(ref)


def test_one_node_is_wanted_where_a_reference_leads_to_several(tmp_path: Path) -> None:
    with pytest.raises(StepError, match="`brokers` leads to node-4, node-5, and one node is wanted"):
        stage(tmp_path, healthy()).node("brokers")


def test_values(tmp_path: Path) -> None:
    context = stage(tmp_path, healthy())
    context.bound |= {"epoch": 12, "who": "node-4"}
    assert context.number(-1, "the epoch", lambda: 7) == -1
    assert context.number("current", "the epoch", lambda: 7) == 7
    assert context.number("stale", "the epoch", lambda: 7) == 6
    assert context.number("$epoch", "the epoch", lambda: 7) == 12
    with pytest.raises(StepError, match=r"`\$who` is the node node-4; the epoch is a number"):
        context.number("$who", "the epoch", lambda: 7)
    with pytest.raises(StepError, match="there is no earlier one to send as stale"):
        context.number("stale", "the epoch", lambda: 0)


def test_nothing_is_waited_for_once_what_carries_the_cluster_is_broken(tmp_path: Path) -> None:
    context = stage(tmp_path, healthy())
    cluster: Any = context.cluster
    cluster.lost.append("toxiproxy ended with signal SIGKILL")
    for wait in (context.check_deadline, lambda: context.wait(lambda: True, float("inf"))):
        with pytest.raises(InfrastructureError, match="toxiproxy ended with signal SIGKILL"):
            wait()
