"""The requests that only brokers of this design answer: DescribeQuorum, and heartbeats that were sent to a broker.

The active controller answers DescribeQuorum (55), as Kafka's tools send it to a broker (KIP-595, KIP-836). Shipped
Kafka's clients call the metadata topic by another name than the draft.

A broker answers NOT_CONTROLLER to heartbeats (KIP-631, BrokerHeartbeat, ControllerHeartbeat). Only the listener between
nodes knows the two keys, which shipped Kafka has since given to other requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from fencepost.cluster_impl.api.serving import when_serving
from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.raft.metadata_topic import SHIPPED_NAME, TOPIC
from fencepost.cluster_impl.designs.quorum.refused_heartbeat import refused_heartbeat
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Handler, Request


def describe_quorum(control: ControlPlane) -> Handler:
    """Return the handler of a broker. A controller that is not active is passed over."""

    async def ask(body: m.DescribeQuorumRequest, request: Request) -> Message:
        asked = m.DescribeQuorumRequest(topics=[_renamed(topic) for topic in body.topics])
        shipped = any(topic.topic_name == SHIPPED_NAME for topic in body.topics)
        try:
            reply = await control.forward(asked, request.version)
            if shipped and isinstance(reply, m.DescribeQuorumResponse):
                for topic in reply.topics:
                    topic.topic_name = SHIPPED_NAME
            return reply
        except (ConnectionError, TimeoutError):
            return m.DescribeQuorumResponse(error_code=Error.REQUEST_TIMED_OUT)

    def refuse(_: m.DescribeQuorumRequest, request: Request) -> Message:
        return m.DescribeQuorumResponse(error_code=Error.BROKER_NOT_AVAILABLE)

    return when_serving(control, m.DescribeQuorumRequest, ask, refuse)


def _renamed(topic: m.DescribeQuorumRequest.TopicData) -> m.DescribeQuorumRequest.TopicData:
    name = TOPIC if topic.topic_name == SHIPPED_NAME else topic.topic_name
    return m.DescribeQuorumRequest.TopicData(topic_name=name, partitions=topic.partitions)


class MisdirectedHeartbeats:
    """The handlers of a broker. A response names the controller that this broker believes to be active, else -1."""

    def __init__(self, finder: ControllerFinder) -> None:
        self._finder = finder
        self.handlers: Mapping[int, Handler] = {
            m.BrokerHeartbeatRequest.API_KEY: self._broker_heartbeat,
            m.ControllerHeartbeatRequest.API_KEY: self._controller_heartbeat,
        }

    def _broker_heartbeat(self, request: Request) -> m.BrokerHeartbeatResponse:
        body = cast("m.BrokerHeartbeatRequest", request.body)
        return refused_heartbeat(body, Error.NOT_CONTROLLER, self._finder.believed)

    def _controller_heartbeat(self, _: Request) -> m.ControllerHeartbeatResponse:
        return m.ControllerHeartbeatResponse(error_code=Error.NOT_CONTROLLER)
