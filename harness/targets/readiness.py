"""Readiness of nodes: requests to a node at its own address, which bypasses every link.

Most answers change while nodes start, and are asked for again. One that cannot raises InfrastructureError at once.
"""

from __future__ import annotations

from collections.abc import Collection

from kio.schema.describe_quorum.v0 import DescribeQuorumRequest, DescribeQuorumResponse
from kio.schema.describe_quorum.v0.request import PartitionData, TopicData
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v1 import MetadataRequest, MetadataResponse
from kio.schema.types import TopicName
from kio.static.primitive import i32

from fencepost.harness.clients.login import connect
from fencepost.harness.clients.raw import NoAnswer, Unreadable
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.layout import Listener, Node
from fencepost.harness.targets import zookeeper
from fencepost.harness.targets.security import access
from fencepost.harness.targets.target import Installation

TIMEOUT_S = 1.0
"""Seconds to wait for one response. A later request asks again."""


def unready(nodes: Collection[Node], installation: Installation, metadata_topic: str) -> str | None:
    """Return a message about the first of these nodes that does not serve yet; None if all serve.

    A controller serves when it answers DescribeQuorum and a controller of the cluster reports itself as leader. A
    broker serves when its Metadata response lists each of these brokers, so the controller has unfenced them.
    """
    controllers = [node for node in nodes if node.is_controller]
    return without_quorum(controllers, installation, metadata_topic) or unlisted_brokers(
        [node for node in nodes if node.is_broker], installation
    )


def without_quorum(controllers: Collection[Node], installation: Installation, metadata_topic: str) -> str | None:
    """Return a message unless each of these controllers answers DescribeQuorum and one of the cluster leads."""
    try:
        leading = [_leads(node, installation, metadata_topic) for node in controllers]
    except NoAnswer as error:
        return _unanswered(error)
    others = (node for node in installation.layout.controllers if node not in controllers)
    if controllers and not any(leading):
        leading = [_leads_if_there(node, installation, metadata_topic) for node in others]
    if controllers and not any(leading):
        return "no controller reports itself as leader of the quorum"
    return None


def unlisted_brokers(brokers: Collection[Node], installation: Installation) -> str | None:
    """Return a message about the first broker whose Metadata response does not list each of these brokers.

    Raise InfrastructureError if it lists others, and none of the plan.
    """
    try:
        return _unlisted(brokers, installation)
    except NoAnswer as error:
        return _unanswered(error)


def unready_with_zookeeper(nodes: Collection[Node], installation: Installation) -> str | None:
    """Return the same for a design with ZooKeeper: servers have to accept sessions, brokers to know a controller.

    A broker knows a controller once one holds `/controller` and has sent it the metadata of the cluster.
    """
    servers = [node for node in nodes if node.is_zookeeper]
    if silent := zookeeper.unready(servers):
        return silent
    brokers = [node for node in nodes if node.is_broker]
    try:
        return _unlisted(brokers, installation) or next(
            (f"{node.name} knows no controller" for node in brokers if known_controller(node, installation) < 0), None
        )
    except NoAnswer as error:
        return _unanswered(error)


def known_controller(node: Node, installation: Installation) -> int:
    """Return the id of the controller in a broker's Metadata response, -1 if it knows none. Raises NoAnswer."""
    return int(_metadata(node, installation).controller_id)


def _unanswered(error: NoAnswer) -> str:
    """Return how a request was not answered. Raise InfrastructureError if that will not change: it was, wrongly."""
    if isinstance(error, Unreadable):
        raise InfrastructureError(str(error)) from error
    return str(error)


def _unlisted(brokers: Collection[Node], installation: Installation) -> str | None:
    of_plan = {node.id for node in installation.layout.brokers}
    for node in brokers:
        listed = {
            int(broker.node_id): f"{broker.node_id} at {broker.host}:{broker.port}"
            for broker in _metadata(node, installation).brokers
        }
        seen = f"it lists {', '.join(listed.values()) or 'none'}"
        # A broker that lists nothing yet, or its peers before itself, may still do so.
        if listed and not of_plan & listed.keys():
            raise InfrastructureError(
                f"{node.name} lists no broker of the plan in its Metadata: {seen}; the plan's id is {node.id}. A broker"
                " with an id of its own needs that as its `id` in the `topology` of the plan"
            )
        if missing := [f"{broker.name} (id {broker.id})" for broker in brokers if broker.id not in listed]:
            return f"{node.name} does not list {', '.join(missing)} in its Metadata: {seen}"
    return None


def _leads(node: Node, installation: Installation, topic: str) -> bool:
    """Return whether this controller leads the quorum: only the leader describes it. Raises NoAnswer."""
    partition = PartitionData(partition_index=i32(0))
    request = DescribeQuorumRequest(topics=(TopicData(topic_name=TopicName(topic), partitions=(partition,)),))
    asked = Listener.CONTROLLER
    with connect(node.endpoint(asked), TIMEOUT_S, access(asked, installation)) as connection:
        answer = connection.call(request, DescribeQuorumResponse)
    partitions = [partition for topic in answer.topics for partition in topic.partitions]
    return any(
        partition.error_code is ErrorCode.none and partition.leader_id == node.quorum_id for partition in partitions
    )


def _leads_if_there(node: Node, installation: Installation, topic: str) -> bool:
    try:
        return _leads(node, installation, topic)
    except NoAnswer:
        return False


def _metadata(node: Node, installation: Installation) -> MetadataResponse:
    """Return a broker's Metadata response without topics. Raises NoAnswer."""
    asked = Listener.CLIENT
    with connect(node.endpoint(asked), TIMEOUT_S, access(asked, installation)) as connection:
        return connection.call(MetadataRequest(topics=()), MetadataResponse)
