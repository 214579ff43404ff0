"""Rules for records and offsets: Produce, Fetch, ListOffsets, DeleteRecords, OffsetForLeaderEpoch, InitProducerId."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast
from uuid import UUID

from fencepost.cluster_impl.api.authorization.rules import Asker, Rule, each, whole, without
from fencepost.cluster_impl.api.fetch import replica_state
from fencepost.cluster_impl.api.produce import ACKS_NONE
from fencepost.cluster_impl.api.serving import Answer
from fencepost.cluster_impl.security.entries import AclOperation
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal
from fencepost.cluster_impl.wire.server import CloseConnection, Handler, Request

_REFUSED = Error.TOPIC_AUTHORIZATION_FAILED
_TOPIC_IDS_FROM = 13

TopicName = Callable[[UUID], str | None]


def produce(request: Request, asker: Asker, handler: Handler) -> Answer:
    """WRITE on each topic. A request with acks=0 has no response, so a refusal closes its connection."""
    body = cast("m.ProduceRequest", request.body)
    denied = [topic for topic in body.topic_data if not asker.topic(AclOperation.WRITE, topic.name)]
    if not denied:
        return handler(request)
    if body.acks == ACKS_NONE:
        raise CloseConnection(f"{asker.principal} may not write to {denied[0].name}")
    refused = refusal(m.ProduceRequest(acks=body.acks, topic_data=denied), _REFUSED)
    assert isinstance(refused, m.ProduceResponse)
    return without(
        request, handler, "topic_data", denied, lambda response: response.responses.extend(refused.responses)
    )


def fetch(topic_name: TopicName) -> Rule:
    """READ on each topic; followers have been asked for CLUSTER_ACTION."""

    def rule(request: Request, asker: Asker, handler: Handler) -> Answer:
        body = cast("m.FetchRequest", request.body)
        if replica_state(body, request.version).replica_id >= 0:
            return handler(request)

        def name(topic: m.FetchRequest.FetchTopic) -> str | None:
            return topic.topic if request.version < _TOPIC_IDS_FROM else topic_name(topic.topic_id)

        denied = [
            topic
            for topic in body.topics
            if (named := name(topic)) is not None and not asker.topic(AclOperation.READ, named)
        ]
        if not denied:
            return handler(request)
        errors = [_unread(topic) for topic in denied]
        return without(request, handler, "topics", denied, lambda response: response.responses.extend(errors))

    return rule


def _unread(topic: m.FetchRequest.FetchTopic) -> m.FetchResponse.FetchableTopicResponse:
    return m.FetchResponse.FetchableTopicResponse(
        topic=topic.topic,
        topic_id=topic.topic_id,
        partitions=[
            m.FetchResponse.PartitionData(
                partition_index=partition.partition, error_code=_REFUSED, high_watermark=-1, records=b""
            )
            for partition in topic.partitions
        ],
    )


def _unlisted(topic: m.ListOffsetsRequest.ListOffsetsTopic) -> m.ListOffsetsResponse.ListOffsetsTopicResponse:
    partition = m.ListOffsetsResponse.ListOffsetsPartitionResponse
    return m.ListOffsetsResponse.ListOffsetsTopicResponse(
        name=topic.name,
        partitions=[
            partition(partition_index=requested.partition_index, error_code=_REFUSED, timestamp=-1, offset=-1)
            for requested in topic.partitions
        ],
    )


list_offsets = each("topics", lambda topic, asker: asker.topic(AclOperation.DESCRIBE, topic.name), "topics", _unlisted)


def _kept(topic: m.DeleteRecordsRequest.DeleteRecordsTopic) -> m.DeleteRecordsResponse.DeleteRecordsTopicResult:
    partition = m.DeleteRecordsResponse.DeleteRecordsPartitionResult
    return m.DeleteRecordsResponse.DeleteRecordsTopicResult(
        name=topic.name,
        partitions=[
            partition(partition_index=requested.partition_index, low_watermark=-1, error_code=_REFUSED)
            for requested in topic.partitions
        ],
    )


delete_records = each("topics", lambda topic, asker: asker.topic(AclOperation.DELETE, topic.name), "topics", _kept)


def offset_for_leader_epoch(request: Request, asker: Asker, handler: Handler) -> Answer:
    """DESCRIBE on each topic, of clients; a follower needs CLUSTER_ACTION."""
    body = cast("m.OffsetForLeaderEpochRequest", request.body)
    if body.replica_id >= 0 and asker.cluster(AclOperation.CLUSTER_ACTION):
        return handler(request)
    denied = [topic for topic in body.topics if not asker.topic(AclOperation.DESCRIBE, topic.topic)]
    if not denied:
        return handler(request)
    end = m.OffsetForLeaderEpochResponse.EpochEndOffset
    errors = [
        m.OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(
            topic=topic.topic,
            partitions=[
                end(partition=partition.partition, error_code=_REFUSED, leader_epoch=-1, end_offset=-1)
                for partition in topic.partitions
            ],
        )
        for topic in denied
    ]
    return without(request, handler, "topics", denied, lambda response: response.topics.extend(errors))


init_producer_id = whole(
    lambda _, asker: asker.cluster(AclOperation.IDEMPOTENT_WRITE) or asker.some_topic(AclOperation.WRITE),
    lambda body, _: refusal(body, Error.CLUSTER_AUTHORIZATION_FAILED),
)
