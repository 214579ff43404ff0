from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.cli.tables import describe, queues
from fencepost.cluster_impl.designs.leader_driven.admin.creating import NewTopic, create_topic
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import ModelCluster


@pytest.fixture
def model() -> ModelCluster:
    model = ModelCluster()
    new = NewTopic("t", assignment=[[4, 5], [5, 6], [6, 4]], config={"min.insync.replicas": "2"})
    model.alone("t", create_topic(model.command, new))
    model.settle()
    return model


def test_a_topic_is_described_with_what_is_under_way(model: ModelCluster) -> None:
    for broker in model.brokers.values():
        broker.notices = False
    model.tree.create(znodes.reassigned(TopicPartition("t", 1)), b"[6,4]")
    model.tree.create(znodes.reassigned(TopicPartition("t", 2)), b"[]")
    model.tree.create(znodes.partition(TopicPartition("t", 3)))
    model.tree.create(znodes.reassigned(TopicPartition("t", 3)), b"[4]")
    model.tree.create(znodes.partition(TopicPartition("t", 4)))
    model.stop(4)
    live, topic = model.tree.run(describe(())).split("\n\n")
    assert live == "live brokers: 5,6"
    assert topic.splitlines()[0].startswith("topic t, id e3b98a4d-a31a-127d-")
    assert topic.splitlines()[0].endswith(", min.insync.replicas=2")
    assert [line.split(maxsplit=5) for line in topic.splitlines()[2:]] == [
        ["0", "none", "0", "4,5", "4,5", "-"],
        ["1", "5", "0", "5,6", "5,6", "move to 6,4"],
        ["2", "none", "0", "4,6", "6,4", "deletion"],
        ["3", "none", "-", "-", "-", "creation to 4"],
        ["4", "none", "-", "-", "-", "left by a creation or deletion that was cut short"],
    ]


def test_a_topic_that_does_not_exist_is_not_described(model: ModelCluster) -> None:
    with pytest.raises(RequestError, match="There is no topic u"):
        model.tree.run(describe(["t", "u"]))


@pytest.mark.requirement("LD-08")
def test_the_queues_show_what_waits_and_what_has_waited_longest(model: ModelCluster) -> None:
    model.stop(6)
    request = b'{"request":"close-replica","topic":"t","partition":1,"epoch":3,"from":5}'
    model.tree.create(f"{znodes.request_prefix(6)}0000000008", b"what?")
    model.tree.create(f"{znodes.request_prefix(6)}0000000007", request)
    shown = model.tree.run(queues((), show_requests=True)).splitlines()
    assert [line.split(maxsplit=4) for line in shown[1:4]] == [
        ["4", "yes", "0", "0", "-"],
        ["5", "yes", "0", "0", "-"],
        ["6", "no", "2", "0", "close-replica t-1 by leader 5 at epoch 3"],
    ]
    assert shown[4] == "broker 6, request-0000000007: close-replica t-1 by leader 5 at epoch 3"
    assert shown[5].startswith("broker 6, request-0000000008: /brokers/state/6/request-0000000008 cannot be read")
    with pytest.raises(RequestError, match="There is no broker 9"):
        model.tree.run(queues([9], show_requests=False))
