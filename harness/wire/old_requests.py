"""Requests in the versions of Apache Kafka 0.10.2 that the library no longer has, as kio's modules have them.

Source: the message definitions of Apache Kafka 3.9.
"""

import struct
import zlib
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import ClassVar

from kio.schema.errors import ErrorCode
from kio.static.primitive import Records, i16, i32, i32Timedelta, i64

from fencepost.harness.wire.entities import (
    BOOL,
    DURATION,
    ERROR,
    INT16,
    INT32,
    INT64,
    RECORDS,
    STRING,
    PlainNested,
    PlainRequest,
    PlainResponse,
)


class _CreateTopics:
    __api_key__: ClassVar[i16] = i16(19)
    __version__: ClassVar[i16] = i16(1)


@dataclass(frozen=True, kw_only=True)
class CreatableReplicaAssignment(_CreateTopics, PlainNested):
    partition_index: i32 = field(metadata=INT32)
    broker_ids: tuple[i32, ...] = field(metadata=INT32)


@dataclass(frozen=True, kw_only=True)
class CreateableTopicConfig(_CreateTopics, PlainNested):
    name: str = field(metadata=STRING)
    value: str | None = field(metadata=STRING)


@dataclass(frozen=True, kw_only=True)
class CreatableTopic(_CreateTopics, PlainNested):
    name: str = field(metadata=STRING)
    num_partitions: i32 = field(metadata=INT32)
    replication_factor: i16 = field(metadata=INT16)
    assignments: tuple[CreatableReplicaAssignment, ...]
    configs: tuple[CreateableTopicConfig, ...]


@dataclass(frozen=True, kw_only=True)
class CreateTopicsRequest(_CreateTopics, PlainRequest):
    topics: tuple[CreatableTopic, ...]
    timeout: i32Timedelta = field(metadata=DURATION)
    validate_only: bool = field(metadata=BOOL, default=False)


@dataclass(frozen=True, kw_only=True)
class CreatableTopicResult(_CreateTopics, PlainNested):
    name: str = field(metadata=STRING)
    error_code: ErrorCode = field(metadata=ERROR)
    error_message: str | None = field(metadata=STRING)


@dataclass(frozen=True, kw_only=True)
class CreateTopicsResponse(_CreateTopics, PlainResponse):
    topics: tuple[CreatableTopicResult, ...]


class _DeleteTopics:
    __api_key__: ClassVar[i16] = i16(20)
    __version__: ClassVar[i16] = i16(0)


@dataclass(frozen=True, kw_only=True)
class DeleteTopicsRequest(_DeleteTopics, PlainRequest):
    topic_names: tuple[str, ...] = field(metadata=STRING)
    timeout: i32Timedelta = field(metadata=DURATION)


@dataclass(frozen=True, kw_only=True)
class DeletableTopicResult(_DeleteTopics, PlainNested):
    name: str = field(metadata=STRING)
    error_code: ErrorCode = field(metadata=ERROR)


@dataclass(frozen=True, kw_only=True)
class DeleteTopicsResponse(_DeleteTopics, PlainResponse):
    responses: tuple[DeletableTopicResult, ...]


class _Produce:
    __api_key__: ClassVar[i16] = i16(0)
    __version__: ClassVar[i16] = i16(2)


@dataclass(frozen=True, kw_only=True)
class PartitionProduceData(_Produce, PlainNested):
    index: i32 = field(metadata=INT32)
    records: Records | None = field(metadata=RECORDS)


@dataclass(frozen=True, kw_only=True)
class TopicProduceData(_Produce, PlainNested):
    name: str = field(metadata=STRING)
    partition_data: tuple[PartitionProduceData, ...]


@dataclass(frozen=True, kw_only=True)
class ProduceRequest(_Produce, PlainRequest):
    acks: i16 = field(metadata=INT16)
    timeout: i32Timedelta = field(metadata=DURATION)
    topic_data: tuple[TopicProduceData, ...]


@dataclass(frozen=True, kw_only=True)
class PartitionProduceResponse(_Produce, PlainNested):
    index: i32 = field(metadata=INT32)
    error_code: ErrorCode = field(metadata=ERROR)
    base_offset: i64 = field(metadata=INT64)
    log_append_time: i64 = field(metadata=INT64)


@dataclass(frozen=True, kw_only=True)
class TopicProduceResponse(_Produce, PlainNested):
    name: str = field(metadata=STRING)
    partition_responses: tuple[PartitionProduceResponse, ...]


@dataclass(frozen=True, kw_only=True)
class ProduceResponse(_Produce, PlainResponse):
    responses: tuple[TopicProduceResponse, ...]
    throttle_time: i32Timedelta = field(metadata=DURATION)


class _Fetch:
    __api_key__: ClassVar[i16] = i16(1)
    __version__: ClassVar[i16] = i16(3)


@dataclass(frozen=True, kw_only=True)
class FetchPartition(_Fetch, PlainNested):
    partition: i32 = field(metadata=INT32)
    fetch_offset: i64 = field(metadata=INT64)
    partition_max_bytes: i32 = field(metadata=INT32)


@dataclass(frozen=True, kw_only=True)
class FetchTopic(_Fetch, PlainNested):
    topic: str = field(metadata=STRING)
    partitions: tuple[FetchPartition, ...]


@dataclass(frozen=True, kw_only=True)
class FetchRequest(_Fetch, PlainRequest):
    replica_id: i32 = field(metadata=INT32)
    max_wait: i32Timedelta = field(metadata=DURATION)
    min_bytes: i32 = field(metadata=INT32)
    max_bytes: i32 = field(metadata=INT32)
    topics: tuple[FetchTopic, ...]


@dataclass(frozen=True, kw_only=True)
class PartitionData(_Fetch, PlainNested):
    partition_index: i32 = field(metadata=INT32)
    error_code: ErrorCode = field(metadata=ERROR)
    high_watermark: i64 = field(metadata=INT64)
    records: Records | None = field(metadata=RECORDS)


@dataclass(frozen=True, kw_only=True)
class FetchableTopicResponse(_Fetch, PlainNested):
    topic: str = field(metadata=STRING)
    partitions: tuple[PartitionData, ...]


@dataclass(frozen=True, kw_only=True)
class FetchResponse(_Fetch, PlainResponse):
    throttle_time: i32Timedelta = field(metadata=DURATION)
    responses: tuple[FetchableTopicResponse, ...]


def message_set(value: bytes) -> bytes:
    """Return a set of one message of magic 1, without a key and a timestamp."""
    rest = struct.pack(">bbqii", 1, 0, -1, -1, len(value)) + value
    message = struct.pack(">I", zlib.crc32(rest)) + rest
    return struct.pack(">qi", 0, len(message)) + message


MODULES = {
    ("produce", 2): SimpleNamespace(
        request=SimpleNamespace(TopicProduceData=TopicProduceData, PartitionProduceData=PartitionProduceData),
        ProduceRequest=ProduceRequest,
        ProduceResponse=ProduceResponse,
    ),
    ("fetch", 3): SimpleNamespace(
        request=SimpleNamespace(FetchTopic=FetchTopic, FetchPartition=FetchPartition),
        FetchRequest=FetchRequest,
        FetchResponse=FetchResponse,
    ),
    ("create_topics", 1): SimpleNamespace(
        request=SimpleNamespace(CreatableTopic=CreatableTopic),
        CreateTopicsRequest=CreateTopicsRequest,
        CreateTopicsResponse=CreateTopicsResponse,
    ),
    ("delete_topics", 0): SimpleNamespace(
        DeleteTopicsRequest=DeleteTopicsRequest, DeleteTopicsResponse=DeleteTopicsResponse
    ),
}
"""The requests by their name in kio and their version, with the names that kio's modules have."""
