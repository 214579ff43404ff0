"""The znodes of the design: written data is read back, and malformed data is refused with a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import (
    StateChange,
    StateChangeRequest,
    read_request,
    write_request,
)
from fencepost.cluster_impl.designs.leader_driven.znodes import (
    BrokerZnode,
    ClaimZnode,
    IsrState,
    Leader,
    QueueZnode,
    TopicZnode,
)
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.replication.control_plane import Endpoint, TopicPartition

OF = TopicPartition("t", 3)


def test_every_znode_is_read_as_it_was_written() -> None:
    info = BrokerZnode({"INTERNAL": Endpoint("node-4", 9090), "CLIENT": Endpoint("::1", 9092)}, 17, "r1")
    assert znodes.read_broker(4, znodes.write_broker(info)) == info
    without_rack = replace(info, rack=None)
    assert znodes.read_broker(4, znodes.write_broker(without_rack)) == without_rack
    assert znodes.read_claim(4, znodes.write_claim(ClaimZnode(12, "here"))) == ClaimZnode(12, "here")
    assert znodes.read_topic("t", znodes.write_topic(TopicZnode({"a": "b"}))) == TopicZnode({"a": "b"})
    assert znodes.read_replicas(OF, znodes.write_replicas((5, 4))) == (5, 4)
    assert znodes.read_reassigned(OF, znodes.write_replicas(())) == ()
    assert znodes.read_leader(OF, znodes.write_leader(Leader(4, -1))) == Leader(4, -1)
    assert znodes.read_isr(OF, znodes.write_isr(IsrState((4, 5), 3)), 8) == IsrState((4, 5), 3, 8)
    assert znodes.read_queue(4, znodes.write_queue(QueueZnode(2))) == QueueZnode(2)
    request = StateChangeRequest(StateChange.CLOSE_REPLICA, OF, 7, 4)
    assert read_request("/a", write_request(request)) == request


def test_the_text_of_a_znode_is_the_documented_one() -> None:
    assert znodes.write_leader(Leader(4, 3)) == b'{"broker":4,"epoch":3}'
    assert znodes.write_isr(IsrState((4, 5), 3)) == b'{"isr":[4,5],"epoch":3}'
    assert znodes.write_replicas((4, 5, 6)) == b"[4,5,6]"
    request = StateChangeRequest.by_admin(StateChange.START_REPLICA, OF)
    wanted = b'{"request":"start-replica","topic":"t","partition":3,"epoch":-1,"from":-1}'
    assert write_request(request) == wanted


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (lambda data: znodes.read_leader(OF, data), b""),
        (lambda data: znodes.read_leader(OF, data), b"4"),
        (lambda data: znodes.read_leader(OF, data), b'{"broker":4}'),
        (lambda data: znodes.read_leader(OF, data), b'{"broker":4,"epoch":-2}'),
        (lambda data: znodes.read_isr(OF, data, 0), b'{"isr":[4,4],"epoch":1}'),
        (lambda data: znodes.read_isr(OF, data, 0), b'{"isr":[4],"epoch":-1}'),
        (lambda data: znodes.read_isr(OF, data, 0), b'{"isr":"4","epoch":1}'),
        (lambda data: znodes.read_replicas(OF, data), b"[]"),
        (lambda data: znodes.read_replicas(OF, data), b"[4,4]"),
        (lambda data: znodes.read_replicas(OF, data), b'{"replicas":[4]}'),
        (lambda data: znodes.read_reassigned(OF, data), b"[-1]"),
        (lambda data: znodes.read_reassigned(OF, data), b"[true]"),
        (lambda data: znodes.read_broker(4, data), b'{"endpoints":["INTERNAL:9090"],"timestamp":"1"}'),
        (lambda data: znodes.read_broker(4, data), b'{"endpoints":["A://b:9090"],"timestamp":"1","rack":7}'),
        (lambda data: read_request("/a", data), b'{"request":"stop","topic":"t","partition":3}'),
    ],
)
def test_what_does_not_belong_there_is_refused(read: Callable[[bytes], object], data: bytes) -> None:
    with pytest.raises(MalformedZnode, match="cannot be read"):
        read(data)


@pytest.mark.requirement("DLD-17")
def test_two_topics_never_have_one_id() -> None:
    assert znodes.topic_id("t", 5) != znodes.topic_id("t", 6)
    assert znodes.topic_id("t", 5) != znodes.topic_id("u", 5)
    assert znodes.topic_id("t", 5) == znodes.topic_id("t", 5)


def test_the_partition_of_a_leader_is_found_from_its_path() -> None:
    assert znodes.partition_of_leader(znodes.leader(OF)) == OF
    assert znodes.partition_of_leader(znodes.isr(OF)) is None
    assert znodes.partition_of_leader("/brokers/topics/t/x/leader") is None
