"""Probes that send a broker the requests of its clients and followers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i32, i32Timedelta, i64

from fencepost.harness.clients.asking import leader_epoch, request_metadata
from fencepost.harness.clients.raw import NotOffered, RawConnection
from fencepost.harness.clients.versions import FETCH, LIST_OFFSETS, entity
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.probes.answer import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.engine.references import References
from fencepost.harness.engine.topics import create_topic
from fencepost.harness.plan.probes import (
    CreateTopicProbe,
    FetchProbe,
    ListOffsetsProbe,
    MetadataProbe,
    ReplicaFetchProbe,
)

CONSUMER = BrokerId(-1)
LATEST = i64(-1)
MAX_BYTES = i32(1 << 20)
WITH_LEADER_EPOCH, BY_NAME, WITH_BROKER_EPOCH = 9, 12, 15
"""Versions of Fetch: the first with a leader epoch, the last by name, and the first with the epoch of a follower."""
AT_ONCE = i32Timedelta.parse(timedelta(0))


def ask_fetch(probe: FetchProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Fetch one partition as a consumer, by topic name."""
    api = connection.newest(FETCH.between(FETCH.low, BY_NAME))
    partition = api.request.FetchPartition(
        partition=i32(probe.partition), fetch_offset=i64(probe.offset), partition_max_bytes=MAX_BYTES
    )
    topic = api.request.FetchTopic(topic=TopicName(probe.topic), partitions=(partition,))
    return _fetched(connection, api, topic, replica_id=CONSUMER)


def ask_replica_fetch(probe: ReplicaFetchProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Fetch as a follower: by topic id, or by name, without a broker epoch, from releases that have no fetch by id."""
    name = f"{probe.topic}-{probe.partition}"
    broker = references.node(probe.broker)
    topic_id = references.now.image.topic_id(probe.topic)
    if topic_id is None and not references.uses_zookeeper:
        raise StepError(f"{probe.topic} is not in the metadata log, so it has no id to fetch by")
    claimed = references.leader_epoch(probe.leader_epoch, name)
    broker_epoch = references.broker_epoch(probe.broker_epoch, broker)
    id = BrokerId(references.plan.node(broker).id)
    api = _replica_fetch(probe, connection, by_id=topic_id is not None, by_name=references.uses_zookeeper)
    state = getattr(api.request, "ReplicaState", None)  # since version 15 (KIP-903)
    partition = entity(
        api.request.FetchPartition,
        partition=i32(probe.partition),
        current_leader_epoch=i32(claimed),
        fetch_offset=i64(probe.offset),
        log_start_offset=i64(0),
        partition_max_bytes=MAX_BYTES,
    )
    topic = entity(api.request.FetchTopic, topic=TopicName(probe.topic), topic_id=topic_id, partitions=(partition,))
    replica: dict[str, Any] = {"replica_id": id}
    sent = {"leader_epoch": claimed}
    if state is not None:
        replica = {"replica_state": state(replica_id=id, replica_epoch=i64(broker_epoch))}
        sent["broker_epoch"] = broker_epoch
    return _fetched(connection, api, topic, sent=sent, **replica)


def _replica_fetch(probe: ReplicaFetchProbe, connection: RawConnection, *, by_id: bool, by_name: bool) -> Any:
    """Return the version of Fetch to ask in; NotOffered if the node has none with the epochs that the probe names.

    Brokers with ZooKeeper may have topic ids before they serve fetches by id, and they send no broker epoch themselves.
    """
    with_epochs = FETCH.low if probe.leader_epoch == "current" else WITH_LEADER_EPOCH
    if by_name:
        try:
            return connection.newest(FETCH.between(WITH_BROKER_EPOCH if by_id else FETCH.high + 1, FETCH.high))
        except NotOffered:
            return connection.newest(FETCH.between(with_epochs, BY_NAME))
    return connection.newest(
        FETCH.between(BY_NAME + 1 if probe.broker_epoch == "current" else WITH_BROKER_EPOCH, FETCH.high)
    )


def _fetched(
    connection: RawConnection, api: Any, topic: Any, sent: Mapping[str, object] | None = None, **replica: object
) -> ProbeAnswer:
    """Send a Fetch of one topic with one partition, and return its answer."""
    request = entity(
        api.FetchRequest,
        **replica,
        max_wait=AT_ONCE,
        min_bytes=i32(0),
        max_bytes=MAX_BYTES,
        topics=(topic,),
        forgotten_topics_data=(),
    )
    answer = connection.call(request, api.FetchResponse)
    more = {} if sent is None else {"sent": sent}
    error = getattr(answer, "error_code", ErrorCode.none)  # since version 7
    if error is not ErrorCode.none or not answer.responses:
        return answered(error, **more)
    found = answer.responses[0].partitions[0]
    return answered(found.error_code, high_watermark=found.high_watermark, bytes=len(found.records or b""), **more)


def ask_metadata(probe: MetadataProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Ask for metadata. An answer that names no broker at all is of no use to a client: `refused`."""
    answer = request_metadata(connection, None if probe.topic is None else (probe.topic,))
    body = {
        "brokers": sorted(broker.node_id for broker in answer.brokers),
        "controller": answer.controller_id,
        "leaders": {
            f"{topic.name}-{partition.partition_index}": [partition.leader_id, leader_epoch(partition)]
            for topic in answer.topics
            if probe.topic is not None
            for partition in topic.partitions
        },
    }
    errors = [topic.error_code for topic in answer.topics if topic.error_code is not ErrorCode.none]
    if errors and probe.topic is not None:
        return answered(errors[0], **body)
    return ProbeAnswer(ProbeOutcome.SERVED if answer.brokers else ProbeOutcome.REFUSED, None, body)


def ask_list_offsets(probe: ListOffsetsProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Ask for the latest offset of one partition."""
    api = connection.newest(LIST_OFFSETS)
    partition = api.request.ListOffsetsPartition(partition_index=i32(probe.partition), timestamp=LATEST)
    request = entity(
        api.ListOffsetsRequest,
        replica_id=CONSUMER,
        isolation_level=i8(0),
        topics=(api.request.ListOffsetsTopic(name=TopicName(probe.topic), partitions=(partition,)),),
    )
    found = connection.call(request, api.ListOffsetsResponse).topics[0].partitions[0]
    return answered(found.error_code, offset=found.offset, leader_epoch=leader_epoch(found))


def ask_create_topic(probe: CreateTopicProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Send CreateTopics for one topic."""
    error, message = create_topic(connection, probe.topic, probe.partitions, probe.replicas, probe.timeout_ms)
    return answered(error, message=message)
