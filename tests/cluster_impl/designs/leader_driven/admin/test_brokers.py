from __future__ import annotations

from itertools import count

import pytest

from fencepost.cluster_impl.coordination.steps import Absent, Create
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.brokers import add_broker, remove_broker
from fencepost.cluster_impl.designs.leader_driven.admin.creating import NewTopic, create_topic
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import ModelCluster, ProcessDeath
from tests.cluster_impl.designs.znode_tree import ZnodeTree


@pytest.fixture
def model() -> ModelCluster:
    return ModelCluster()


@pytest.mark.requirement("LD-15")
def test_a_broker_is_added_to_a_zookeeper_that_is_empty() -> None:
    tree = ZnodeTree()
    assert tree.run(add_broker(4)) is True
    assert znodes.read_queue(4, tree.data(znodes.state(4))).shrunk == 0
    assert set(znodes.ROOTS) <= set(tree.paths())


def test_no_broker_is_added_below_a_path_that_zookeeper_does_not_have() -> None:
    below_nothing = add_broker(4)
    batch = next(below_nothing)
    with pytest.raises(RequestError, match="lacks the path after the server names"):
        while True:
            batch = below_nothing.send([Absent() for _ in batch])


@pytest.mark.requirement("LD-15")
def test_a_broker_that_was_added_before_keeps_its_queue(model: ModelCluster) -> None:
    model.tree.create(f"{znodes.request_prefix(4)}0000000000", b"{}")
    assert model.carry_out(add_broker(4)) is False
    assert len(model.tree.names(znodes.state(4))) == 1


@pytest.mark.requirement("LD-15", "DLD-31")
def test_a_broker_is_removed_with_its_queue(model: ModelCluster) -> None:
    model.stop(6)
    for number in range(3):
        model.tree.create(f"{znodes.request_prefix(6)}{number:010}", b"{}")
    assert model.carry_out(remove_broker(6)) == 3
    assert model.tree.names(znodes.STATE) == ["4", "5"]
    assert model.tree.names(znodes.CLAIMS) == []


@pytest.mark.requirement("DLD-31")
def test_a_broker_that_is_claimed_registered_or_unknown_is_not_removed(model: ModelCluster) -> None:
    with pytest.raises(RequestError, match="Broker 6 is registered"):
        model.carry_out(remove_broker(6))
    model.stop(6)
    model.tree.execute([Create(znodes.claim(6), b"{}", ephemeral=True)], session=77)
    with pytest.raises(RequestError, match="Broker 6 is running"):
        model.carry_out(remove_broker(6))
    with pytest.raises(RequestError, match="There is no broker 8") as caught:
        model.carry_out(remove_broker(8))
    assert caught.value.error is Error.BROKER_NOT_AVAILABLE
    assert model.tree.names(znodes.CLAIMS) == ["6"]
    assert "6" in model.tree.names(znodes.STATE)


@pytest.mark.requirement("DLD-31")
def test_a_broker_that_is_assigned_something_or_shall_be_is_not_removed(model: ModelCluster) -> None:
    model.alone("t", create_topic(model.command, NewTopic("t", assignment=[[4, 6], [4, 5]])))
    model.stop(6)
    with pytest.raises(RequestError, match="Broker 6 is assigned t-0: reassign"):
        model.carry_out(remove_broker(6))
    model.tree.overwrite(znodes.replicas(TopicPartition("t", 0)), b"[4,5]")
    model.tree.create(znodes.reassigned(TopicPartition("t", 1)), b"[6]")
    with pytest.raises(RequestError, match="Broker 6 is assigned t-1"):
        model.carry_out(remove_broker(6))
    model.tree.delete(znodes.reassigned(TopicPartition("t", 1)))
    model.carry_out(remove_broker(6))
    assert model.tree.names(znodes.STATE) == ["4", "5"]


@pytest.mark.requirement("DLD-31")
def test_a_removal_killed_after_any_write_is_finished_by_the_next_one() -> None:
    for writes in count():
        model = ModelCluster()
        model.stop(6)
        for number in range(3):
            model.tree.create(f"{znodes.request_prefix(6)}{number:010}", b"{}")
        try:
            model.carry_out(remove_broker(6), writes=writes)
        except ProcessDeath:
            pass
        else:
            break
        assert model.tree.names(znodes.CLAIMS) == []
        if model.tree.exists(znodes.state(6)):
            model.carry_out(remove_broker(6))
        assert model.tree.names(znodes.STATE) == ["4", "5"]
    assert writes >= 5
