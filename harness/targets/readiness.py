"""Whether a node serves: asked of the node itself, at its own address, past every link."""

from __future__ import annotations

import io
import socket
import struct
from collections.abc import Collection
from typing import Any

from kio.schema.describe_quorum.v0 import DescribeQuorumRequest, DescribeQuorumResponse
from kio.schema.describe_quorum.v0.request import PartitionData, TopicData
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v1 import MetadataRequest, MetadataResponse
from kio.serial import entity_reader, entity_writer

from harness.network.addresses import CLIENT_PORT, PEER_PORT, Endpoint
from harness.network.layout import Layout, Node

PATIENCE = 1.0
"""Seconds for one answer; a node that needs longer is asked again."""
CLIENT_ID = "fencepost-readiness"


def unready(nodes: Collection[Node], layout: Layout, metadata_topic: str) -> str | None:
    """A sentence about the first of these nodes that does not serve yet; None if all do.

    A controller serves when it answers DescribeQuorum and, somewhere in the cluster, there is a leader. A broker
    serves when its Metadata lists every one of these brokers: it knows them, and the controller has let them in.
    """
    controllers = [node for node in nodes if node.is_controller]
    for node in controllers:
        if isinstance(_leader(node, metadata_topic), str):
            return f"{node.name} does not answer DescribeQuorum: {_leader(node, metadata_topic)}"
    if controllers and not any(isinstance(_leader(node, metadata_topic), int) for node in layout.controllers):
        return "no controller says that it leads the quorum"
    brokers = {node.id: node.name for node in nodes if node.is_broker}
    for node in (node for node in nodes if node.is_broker):
        known = _brokers(node)
        if isinstance(known, str):
            return f"{node.name} does not answer Metadata: {known}"
        if missing := [name for id, name in brokers.items() if id not in known]:
            return f"{node.name} does not list {', '.join(missing)} in its Metadata"
    return None


def _leader(node: Node, topic: str) -> int | str | None:
    """The id of the quorum's leader if this node is it, None if it is not; a sentence if it does not answer."""
    partition = PartitionData(partition_index=0)  # type: ignore[arg-type]  # plain int for kio's phantom type
    request = DescribeQuorumRequest(topics=(TopicData(topic_name=topic, partitions=(partition,)),))  # type: ignore[arg-type]
    answer = ask(Endpoint(node.address, PEER_PORT), request, DescribeQuorumResponse)
    if isinstance(answer, str):
        return answer
    found = [partition for topic in answer.topics for partition in topic.partitions]
    if not found or found[0].error_code is not ErrorCode.none or found[0].leader_id < 0:
        return None
    return int(found[0].leader_id)


def _brokers(node: Node) -> set[int] | str:
    answer = ask(Endpoint(node.address, CLIENT_PORT), MetadataRequest(topics=()), MetadataResponse)
    return answer if isinstance(answer, str) else {int(broker.node_id) for broker in answer.brokers}


def ask(endpoint: Endpoint, request: Any, response_type: Any) -> Any:
    """One request over a connection of its own. The response, or a sentence about why there is none."""
    try:
        with socket.create_connection(endpoint, PATIENCE) as connection:
            connection.settimeout(PATIENCE)
            connection.sendall(_frame(request))
            with connection.makefile("rb") as stream:
                size = stream.read(4)
                body = stream.read(struct.unpack(">i", size)[0]) if len(size) == 4 else b""
        if not body:
            return f"{endpoint} closed the connection"
        _, offset = entity_reader(response_type.__header_schema__)(body, 0)
        return entity_reader(response_type)(body, offset)[0]
    except OSError as error:
        return f"{endpoint}: {error}"
    except Exception as error:  # kio raises errors of many kinds for a body that is not what was asked for
        return f"{endpoint} answered something unreadable ({error})"


def _frame(request: Any) -> bytes:
    body = io.BytesIO()
    header = request.__header_schema__
    entity_writer(header)(
        body,
        header(
            request_api_key=request.__api_key__,
            request_api_version=request.__version__,
            correlation_id=1,
            client_id=CLIENT_ID,
        ),
    )
    entity_writer(type(request))(body, request)
    return struct.pack(">i", body.tell()) + body.getvalue()
