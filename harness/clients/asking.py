"""The questions that every node is asked again and again, and the connection that they go through."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from kio.schema.describe_quorum.v1.request import DescribeQuorumRequest, PartitionData, TopicData
from kio.schema.describe_quorum.v1.response import DescribeQuorumResponse
from kio.schema.errors import ErrorCode
from kio.schema.metadata import v11, v12
from kio.schema.types import TopicName
from kio.static.primitive import i32

from harness.clients.metadata.tail import DRAFT_TOPIC, KRAFT_TOPIC
from harness.clients.raw import NoAnswer, RawConnection
from harness.clients.views import Answer, BrokerView, ControllerView, PartitionView
from harness.network.addresses import Endpoint
from harness.targets.target import Dialect

SILENT_AFTER = 0.6
"""Seconds without an answer that count as silence."""

Result = TypeVar("Result")


class Line:
    """A connection that is opened when it is needed, and anew after it was lost."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._connection: RawConnection | None = None

    def ask(self, question: Callable[[RawConnection], Result]) -> Result:
        """`question` of the connection. NoAnswer if there is none, or it had no answer."""
        try:
            if self._connection is None:
                self._connection = RawConnection(self._endpoint.host, self._endpoint.port, SILENT_AFTER)
            return question(self._connection)
        except NoAnswer:
            self._connection = None
            raise

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()


def metadata_api(dialect: Dialect) -> Any:
    """The newest version of Metadata that every release of this dialect has (12 came with Apache Kafka 3.0)."""
    return v11 if dialect is Dialect.ZOOKEEPER else v12


def ask_metadata(connection: RawConnection, dialect: Dialect, topics: Collection[str] | None = None) -> BrokerView:
    """What a broker says of these topics, or of all. NoAnswer if it says nothing."""
    api = metadata_api(dialect)
    named = None
    if topics is not None:
        named = tuple(api.request.MetadataRequestTopic(topic_id=None, name=TopicName(name)) for name in topics)
    request = api.MetadataRequest(
        topics=named, allow_auto_topic_creation=False, include_topic_authorized_operations=False
    )
    answer = connection.call(request, api.MetadataResponse)
    if not answer.brokers:
        return BrokerView(Answer.REFUSING)
    partitions = {
        f"{topic.name}-{partition.partition_index}": PartitionView(
            topic.name or "",
            partition.partition_index,
            partition.leader_id,
            partition.leader_epoch,
            tuple(partition.isr_nodes),
            tuple(partition.offline_replicas),
            str(topic.topic_id) if topic.topic_id else None,
        )
        for topic in answer.topics
        for partition in topic.partitions
    }
    return BrokerView(Answer.SERVING, frozenset(broker.node_id for broker in answer.brokers), partitions)


def ask_controller(connection: RawConnection, dialect: Dialect) -> int:
    """The id of the controller as this broker names it, -1 for none. NoAnswer if it says nothing."""
    api = metadata_api(dialect)
    request = api.MetadataRequest(topics=(), allow_auto_topic_creation=False, include_topic_authorized_operations=False)
    return int(connection.call(request, api.MetadataResponse).controller_id)


def ask_quorum(connection: RawConnection, dialect: Dialect) -> ControllerView:
    """What a controller says of the metadata quorum. NoAnswer if it says nothing."""
    name = TopicName(KRAFT_TOPIC if dialect is Dialect.KRAFT else DRAFT_TOPIC)
    topic = TopicData(topic_name=name, partitions=(PartitionData(partition_index=i32(0)),))
    answer = connection.call(DescribeQuorumRequest(topics=(topic,)), DescribeQuorumResponse)
    if answer.error_code is not ErrorCode.none or not answer.topics:
        return ControllerView(Answer.REFUSING)
    partition = answer.topics[0].partitions[0]
    if partition.error_code is ErrorCode.not_leader_or_follower:
        return ControllerView(Answer.STANDBY)
    if partition.error_code is not ErrorCode.none:
        return ControllerView(Answer.REFUSING)
    return ControllerView(Answer.SERVING, partition.leader_id, partition.leader_epoch, partition.high_watermark)
