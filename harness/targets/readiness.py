"""Whether a node serves: asked of the node itself, at its own address, past every link."""

from __future__ import annotations

from collections.abc import Collection

from kio.schema.describe_quorum.v0 import DescribeQuorumRequest, DescribeQuorumResponse
from kio.schema.describe_quorum.v0.request import PartitionData, TopicData
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v1 import MetadataRequest, MetadataResponse
from kio.schema.types import TopicName
from kio.static.primitive import i32

from harness.clients.raw import NoAnswer, RawConnection
from harness.network.layout import Layout, Listener, Node
from harness.targets import zookeeper

PATIENCE = 1.0
"""Seconds for one answer; a node that needs longer is asked again."""


def unready(nodes: Collection[Node], layout: Layout, metadata_topic: str) -> str | None:
    """A sentence about the first of these nodes that does not serve yet; None if all do.

    A controller serves when it answers DescribeQuorum and a controller of the cluster says that it leads. A broker
    serves when its Metadata lists every one of these brokers: it knows them, and the controller has let them in.
    """
    try:
        controllers = [node for node in nodes if node.is_controller]
        leading = [_leads(node, metadata_topic) for node in controllers]
        others = (node for node in layout.controllers if node not in controllers)
        if controllers and not any(leading) and not any(_leads_if_there(node, metadata_topic) for node in others):
            return "no controller says that it leads the quorum"
        return _strangers([node for node in nodes if node.is_broker])
    except NoAnswer as error:
        return str(error)


def unready_with_zookeeper(nodes: Collection[Node]) -> str | None:
    """The same where ZooKeeper holds the state: its servers have to take sessions, and a broker to know a controller.

    A broker knows none before one holds `/controller` and has told it of the cluster.
    """
    servers = [node for node in nodes if node.is_zookeeper]
    if silent := zookeeper.unready(servers):
        return silent
    brokers = [node for node in nodes if node.is_broker]
    try:
        return _strangers(brokers) or next(
            (f"{node.name} knows no controller" for node in brokers if known_controller(node) < 0), None
        )
    except NoAnswer as error:
        return str(error)


def known_controller(node: Node) -> int:
    """The id of the controller in a broker's Metadata, -1 if it knows none. Raises NoAnswer."""
    return int(_metadata(node).controller_id)


def _strangers(brokers: Collection[Node]) -> str | None:
    for node in brokers:
        known = {int(broker.node_id) for broker in _metadata(node).brokers}
        if missing := [each.name for each in brokers if each.id not in known]:
            return f"{node.name} does not list {', '.join(missing)} in its Metadata"
    return None


def _leads(node: Node, topic: str) -> bool:
    """Whether this controller leads the quorum: only the leader describes it. Raises NoAnswer."""
    partition = PartitionData(partition_index=i32(0))
    request = DescribeQuorumRequest(topics=(TopicData(topic_name=TopicName(topic), partitions=(partition,)),))
    with RawConnection(*node.endpoint(Listener.CONTROLLER), PATIENCE) as connection:
        answer = connection.call(request, DescribeQuorumResponse)
    found = [partition for topic in answer.topics for partition in topic.partitions]
    return any(each.error_code is ErrorCode.none and each.leader_id == node.id for each in found)


def _leads_if_there(node: Node, topic: str) -> bool:
    try:
        return _leads(node, topic)
    except NoAnswer:
        return False


def _metadata(node: Node) -> MetadataResponse:
    """What a broker says of the cluster, without topics. Raises NoAnswer."""
    with RawConnection(*node.endpoint(Listener.CLIENT), PATIENCE) as connection:
        return connection.call(MetadataRequest(topics=()), MetadataResponse)
