"""KIP-343's two requests and ReplicaStateEvent (KIP-589 v7), as drafted, under the private keys that they have here.

Their error codes are more than kio knows, so they are plain numbers.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar

from kio.static.primitive import i8, i16, i32, i64

from fencepost.harness.wire.entities import (
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    PlainNested,
    PlainRequest,
    PlainResponse,
)


class HeartbeatState(IntEnum):
    """KIP-343, BrokerState Enum."""

    INITIAL = 0
    INACTIVE = 1
    ACTIVE = 2
    STOPPING = 3


class _MetadataHeartbeat:
    __api_key__: ClassVar[i16] = i16(1343)
    __version__: ClassVar[i16] = i16(0)


@dataclass(frozen=True, kw_only=True)
class MetadataHeartbeatRequest(_MetadataHeartbeat, PlainRequest):
    broker_id: i32 = field(metadata=INT32)
    incarnation_id: i64 = field(metadata=INT64)
    target_state: i8 = field(metadata=INT8)


@dataclass(frozen=True, kw_only=True)
class MetadataHeartbeatResponse(_MetadataHeartbeat, PlainResponse):
    error_code: i16 = field(metadata=INT16)
    error_string: str | None = field(metadata=STRING)
    broker_id: i32 = field(metadata=INT32)
    incarnation_id: i64 = field(metadata=INT64)
    current_state: i8 = field(metadata=INT8)


class _IsrChange:
    __api_key__: ClassVar[i16] = i16(1344)
    __version__: ClassVar[i16] = i16(0)


@dataclass(frozen=True, kw_only=True)
class IsrChangePartition(_IsrChange, PlainNested):
    leader_epoch: i32 = field(metadata=INT32)
    partition_index: i32 = field(metadata=INT32)
    isr: tuple[i32, ...] = field(metadata=INT32, default=())


@dataclass(frozen=True, kw_only=True)
class IsrChangeTopic(_IsrChange, PlainNested):
    topic_name: str = field(metadata=STRING)
    partitions: tuple[IsrChangePartition, ...]


@dataclass(frozen=True, kw_only=True)
class IsrChangeRequest(_IsrChange, PlainRequest):
    broker_id: i32 = field(metadata=INT32)
    incarnation_id: i64 = field(metadata=INT64)
    topics: tuple[IsrChangeTopic, ...]


@dataclass(frozen=True, kw_only=True)
class IsrChangeResult(_IsrChange, PlainNested):
    error_code: i16 = field(metadata=INT16)
    error_message: str | None = field(metadata=STRING)


@dataclass(frozen=True, kw_only=True)
class IsrChangeResponse(_IsrChange, PlainResponse):
    """One result for each partition, in the order of the request."""

    error_code: i16 = field(metadata=INT16)
    error_message: str | None = field(metadata=STRING)
    results: tuple[IsrChangeResult, ...]


class _ReplicaStateEvent:
    __api_key__: ClassVar[i16] = i16(1589)
    __version__: ClassVar[i16] = i16(0)


@dataclass(frozen=True, kw_only=True)
class EventPartition(_ReplicaStateEvent, PlainNested):
    partition_id: i32 = field(metadata=INT32)
    leader_epoch: i32 = field(metadata=INT32, default=i32(-1))


@dataclass(frozen=True, kw_only=True)
class EventTopic(_ReplicaStateEvent, PlainNested):
    topic: str = field(metadata=STRING)
    partitions: tuple[EventPartition, ...]


@dataclass(frozen=True, kw_only=True)
class ReplicaStateEventRequest(_ReplicaStateEvent, PlainRequest):
    broker_id: i32 = field(metadata=INT32)
    broker_epoch: i64 = field(metadata=INT64)
    event_type: i32 = field(metadata=INT32)
    event_reason: str | None = field(metadata=STRING)
    topics: tuple[EventTopic, ...]


@dataclass(frozen=True, kw_only=True)
class EventPartitionResult(_ReplicaStateEvent, PlainNested):
    partition_id: i32 = field(metadata=INT32)
    error_code: i32 = field(metadata=INT32)


@dataclass(frozen=True, kw_only=True)
class EventTopicResult(_ReplicaStateEvent, PlainNested):
    topic: str = field(metadata=STRING)
    partitions: tuple[EventPartitionResult, ...]


@dataclass(frozen=True, kw_only=True)
class ReplicaStateEventResponse(_ReplicaStateEvent, PlainResponse):
    error_code: i32 = field(metadata=INT32)
    topics: tuple[EventTopicResult, ...]
