"""Probes that ask a broker what its clients and followers ask."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kio.schema.api_versions.v0.request import ApiVersionsRequest
from kio.schema.api_versions.v0.response import ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.schema.fetch import v12 as fetch_by_name
from kio.schema.fetch import v15 as fetch_by_id
from kio.schema.fetch.v12 import request as fetch
from kio.schema.fetch.v12.response import FetchResponse
from kio.schema.list_offsets.v7 import request as offsets
from kio.schema.list_offsets.v7.response import ListOffsetsResponse
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i32, i32Timedelta, i64

from harness.clients.asking import metadata_api
from harness.clients.raw import RawConnection
from harness.engine.context import Context, StepError
from harness.engine.probes.answer import Answer, Outcome, answered
from harness.engine.topics import create_topic
from harness.plan.probes import CreateTopicProbe, FetchProbe, ListOffsetsProbe, MetadataProbe, ReplicaFetchProbe

CONSUMER = BrokerId(-1)
LATEST = i64(-1)
MAX_BYTES = i32(1 << 20)
AT_ONCE = i32Timedelta.parse(timedelta(0))


def ask_fetch(probe: FetchProbe, connection: RawConnection, context: Context) -> Answer:
    partition = fetch.FetchPartition(
        partition=i32(probe.partition), fetch_offset=i64(probe.offset), partition_max_bytes=MAX_BYTES
    )
    request = fetch.FetchRequest(
        replica_id=CONSUMER,
        max_wait=AT_ONCE,
        min_bytes=i32(0),
        max_bytes=MAX_BYTES,
        topics=(fetch.FetchTopic(topic=TopicName(probe.topic), partitions=(partition,)),),
        forgotten_topics_data=(),
    )
    answer = connection.call(request, FetchResponse)
    if answer.error_code is not ErrorCode.none or not answer.responses:
        return answered(answer.error_code)
    found = answer.responses[0].partitions[0]
    return answered(found.error_code, high_watermark=found.high_watermark, bytes=len(found.records or b""))


def ask_replica_fetch(probe: ReplicaFetchProbe, connection: RawConnection, context: Context) -> Answer:
    """Topics of older releases have no ids, and fetches by name have no room for a broker epoch."""
    name = f"{probe.topic}-{probe.partition}"
    broker = context.node(probe.broker)
    topic_id = context.now.image.topic_id(probe.topic)
    if context.in_zookeeper:
        topic_id = topic_id if topic_id and _can_fetch_by_id(connection) else None
    elif topic_id is None:
        raise StepError(f"{probe.topic} is not in the metadata log, so it has no id to fetch by")
    leader_epoch = context.number(
        probe.leader_epoch, f"the leader epoch of {name}", lambda: context.partition_entry(name).leader_epoch
    )
    broker_epoch = context.number(
        probe.broker_epoch, f"the broker epoch of {broker}", lambda: context.broker_entry(broker).epoch
    )
    id = BrokerId(context.plan.node(broker).id)
    api: Any = fetch_by_name if topic_id is None else fetch_by_id
    replica: dict[str, Any] = {"replica_id": id}
    topic: dict[str, Any] = {"topic": TopicName(probe.topic)}
    if topic_id is not None:
        replica = {"replica_state": api.request.ReplicaState(replica_id=id, replica_epoch=i64(broker_epoch))}
        topic = {"topic_id": topic_id}
    partition = api.request.FetchPartition(
        partition=i32(probe.partition),
        current_leader_epoch=i32(leader_epoch),
        fetch_offset=i64(probe.offset),
        log_start_offset=i64(0),
        partition_max_bytes=MAX_BYTES,
    )
    request = api.FetchRequest(
        **replica,
        max_wait=AT_ONCE,
        min_bytes=i32(0),
        max_bytes=MAX_BYTES,
        topics=(api.request.FetchTopic(**topic, partitions=(partition,)),),
        forgotten_topics_data=(),
    )
    sent = {"leader_epoch": leader_epoch, **({"broker_epoch": broker_epoch} if topic_id else {})}
    answer = connection.call(request, api.FetchResponse)
    if answer.error_code is not ErrorCode.none or not answer.responses:
        return answered(answer.error_code, sent=sent)
    found = answer.responses[0].partitions[0]
    return answered(found.error_code, high_watermark=found.high_watermark, bytes=len(found.records or b""), sent=sent)


def _can_fetch_by_id(connection: RawConnection) -> bool:
    """Some releases have ids of topics and no fetches by them yet, which say the broker epoch as well."""
    wanted = fetch_by_id.FetchRequest
    known = connection.call(ApiVersionsRequest(), ApiVersionsResponse).api_keys
    return any(each.api_key == wanted.__api_key__ and each.max_version >= wanted.__version__ for each in known)


def ask_metadata(probe: MetadataProbe, connection: RawConnection, context: Context) -> Answer:
    """A broker that names no broker at all serves nobody with that."""
    api = metadata_api(context.dialect)
    named = None if probe.topic is None else TopicName(probe.topic)
    request = api.MetadataRequest(
        topics=None if named is None else (api.request.MetadataRequestTopic(topic_id=None, name=named),),
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
    )
    answer = connection.call(request, api.MetadataResponse)
    body = {
        "brokers": sorted(broker.node_id for broker in answer.brokers),
        "controller": answer.controller_id,
        "leaders": {
            f"{topic.name}-{partition.partition_index}": [partition.leader_id, partition.leader_epoch]
            for topic in answer.topics
            if probe.topic is not None
            for partition in topic.partitions
        },
    }
    errors = [topic.error_code for topic in answer.topics if topic.error_code is not ErrorCode.none]
    if errors and probe.topic is not None:
        return answered(errors[0], **body)
    return Answer(Outcome.SERVED if answer.brokers else Outcome.REFUSED, None, body)


def ask_list_offsets(probe: ListOffsetsProbe, connection: RawConnection, context: Context) -> Answer:
    partition = offsets.ListOffsetsPartition(partition_index=i32(probe.partition), timestamp=LATEST)
    request = offsets.ListOffsetsRequest(
        replica_id=CONSUMER,
        isolation_level=i8(0),
        topics=(offsets.ListOffsetsTopic(name=TopicName(probe.topic), partitions=(partition,)),),
    )
    found = connection.call(request, ListOffsetsResponse).topics[0].partitions[0]
    return answered(found.error_code, offset=found.offset, leader_epoch=found.leader_epoch)


def ask_create_topic(probe: CreateTopicProbe, connection: RawConnection, context: Context) -> Answer:
    error, message = create_topic(connection, probe.topic, probe.partitions, probe.replicas, probe.timeout_ms)
    return answered(error, message=message)
