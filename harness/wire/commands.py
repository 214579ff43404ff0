"""Requests of a controller in ZooKeeper mode to brokers, and ControlledShutdown of a broker to the controller.

Each in the newest version that every release from 2.8 to 3.9 takes. Source: the message definitions of Apache Kafka.
"""

import uuid
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kio.schema.errors import ErrorCode
from kio.static.primitive import i8, i16, i32, i64

from fencepost.harness.wire.entities import (
    BOOL,
    ERROR,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    UUID,
    FlexibleNested,
    FlexibleRequest,
    FlexibleResponse,
)

INCREMENTAL = i8(1)
"""LeaderAndIsr of this type leaves partitions that it does not name as they are."""
IDENTITY: Any = {"kafka_type": "int64", "tag": 1000}
"""A field that only the reference cluster has: the registration of each live broker. Others pass over the tag."""


class _LeaderAndIsr:
    __api_key__: ClassVar[i16] = i16(4)
    __version__: ClassVar[i16] = i16(5)


@dataclass(frozen=True, kw_only=True)
class LeaderAndIsrPartition(_LeaderAndIsr, FlexibleNested):
    """`version` is that of the state's znode."""

    partition_index: i32 = field(metadata=INT32)
    controller_epoch: i32 = field(metadata=INT32)
    leader: i32 = field(metadata=INT32)
    leader_epoch: i32 = field(metadata=INT32)
    isr: tuple[i32, ...] = field(metadata=INT32, default=())
    version: i32 = field(metadata=INT32)
    replicas: tuple[i32, ...] = field(metadata=INT32, default=())
    adding_replicas: tuple[i32, ...] = field(metadata=INT32, default=())
    removing_replicas: tuple[i32, ...] = field(metadata=INT32, default=())
    is_new: bool = field(metadata=BOOL, default=False)


@dataclass(frozen=True, kw_only=True)
class LeaderAndIsrTopic(_LeaderAndIsr, FlexibleNested):
    topic_name: str = field(metadata=STRING)
    topic_id: uuid.UUID | None = field(metadata=UUID)
    partitions: tuple[LeaderAndIsrPartition, ...]


@dataclass(frozen=True, kw_only=True)
class LiveLeader(_LeaderAndIsr, FlexibleNested):
    broker_id: i32 = field(metadata=INT32)
    host_name: str = field(metadata=STRING)
    port: i32 = field(metadata=INT32)


@dataclass(frozen=True, kw_only=True)
class LeaderAndIsrRequest(_LeaderAndIsr, FlexibleRequest):
    controller_id: i32 = field(metadata=INT32)
    controller_epoch: i32 = field(metadata=INT32)
    broker_epoch: i64 = field(metadata=INT64)
    type: i8 = field(metadata=INT8, default=INCREMENTAL)
    topics: tuple[LeaderAndIsrTopic, ...]
    live_leaders: tuple[LiveLeader, ...]


@dataclass(frozen=True, kw_only=True)
class LeaderAndIsrPartitionError(_LeaderAndIsr, FlexibleNested):
    partition_index: i32 = field(metadata=INT32)
    error_code: ErrorCode = field(metadata=ERROR)


@dataclass(frozen=True, kw_only=True)
class LeaderAndIsrTopicError(_LeaderAndIsr, FlexibleNested):
    topic_id: uuid.UUID | None = field(metadata=UUID)
    partitions: tuple[LeaderAndIsrPartitionError, ...]


@dataclass(frozen=True, kw_only=True)
class LeaderAndIsrResponse(_LeaderAndIsr, FlexibleResponse):
    error_code: ErrorCode = field(metadata=ERROR)
    topics: tuple[LeaderAndIsrTopicError, ...]


class _StopReplica:
    __api_key__: ClassVar[i16] = i16(5)
    __version__: ClassVar[i16] = i16(3)


@dataclass(frozen=True, kw_only=True)
class StopReplicaPartition(_StopReplica, FlexibleNested):
    partition_index: i32 = field(metadata=INT32)
    leader_epoch: i32 = field(metadata=INT32, default=i32(-1))
    delete_partition: bool = field(metadata=BOOL)


@dataclass(frozen=True, kw_only=True)
class StopReplicaTopic(_StopReplica, FlexibleNested):
    topic_name: str = field(metadata=STRING)
    partitions: tuple[StopReplicaPartition, ...]


@dataclass(frozen=True, kw_only=True)
class StopReplicaRequest(_StopReplica, FlexibleRequest):
    controller_id: i32 = field(metadata=INT32)
    controller_epoch: i32 = field(metadata=INT32)
    broker_epoch: i64 = field(metadata=INT64)
    topics: tuple[StopReplicaTopic, ...]


@dataclass(frozen=True, kw_only=True)
class StopReplicaPartitionError(_StopReplica, FlexibleNested):
    topic_name: str = field(metadata=STRING)
    partition_index: i32 = field(metadata=INT32)
    error_code: ErrorCode = field(metadata=ERROR)


@dataclass(frozen=True, kw_only=True)
class StopReplicaResponse(_StopReplica, FlexibleResponse):
    error_code: ErrorCode = field(metadata=ERROR)
    partitions: tuple[StopReplicaPartitionError, ...]


class _UpdateMetadata:
    __api_key__: ClassVar[i16] = i16(6)
    __version__: ClassVar[i16] = i16(7)


@dataclass(frozen=True, kw_only=True)
class UpdateMetadataPartition(_UpdateMetadata, FlexibleNested):
    partition_index: i32 = field(metadata=INT32)
    controller_epoch: i32 = field(metadata=INT32)
    leader: i32 = field(metadata=INT32)
    leader_epoch: i32 = field(metadata=INT32)
    isr: tuple[i32, ...] = field(metadata=INT32, default=())
    version: i32 = field(metadata=INT32)
    replicas: tuple[i32, ...] = field(metadata=INT32, default=())
    offline_replicas: tuple[i32, ...] = field(metadata=INT32, default=())


@dataclass(frozen=True, kw_only=True)
class UpdateMetadataTopic(_UpdateMetadata, FlexibleNested):
    topic_name: str = field(metadata=STRING)
    topic_id: uuid.UUID | None = field(metadata=UUID)
    partitions: tuple[UpdateMetadataPartition, ...]


@dataclass(frozen=True, kw_only=True)
class UpdateMetadataEndpoint(_UpdateMetadata, FlexibleNested):
    port: i32 = field(metadata=INT32)
    host: str = field(metadata=STRING)
    listener: str = field(metadata=STRING)
    security_protocol: i16 = field(metadata=INT16)


@dataclass(frozen=True, kw_only=True)
class UpdateMetadataBroker(_UpdateMetadata, FlexibleNested):
    id: i32 = field(metadata=INT32)
    endpoints: tuple[UpdateMetadataEndpoint, ...]
    rack: str | None = field(metadata=STRING, default=None)
    broker_epoch: i64 = field(metadata=IDENTITY, default=i64(-1))


@dataclass(frozen=True, kw_only=True)
class UpdateMetadataRequest(_UpdateMetadata, FlexibleRequest):
    controller_id: i32 = field(metadata=INT32)
    controller_epoch: i32 = field(metadata=INT32)
    broker_epoch: i64 = field(metadata=INT64)
    topics: tuple[UpdateMetadataTopic, ...]
    live_brokers: tuple[UpdateMetadataBroker, ...]


@dataclass(frozen=True, kw_only=True)
class UpdateMetadataResponse(_UpdateMetadata, FlexibleResponse):
    error_code: ErrorCode = field(metadata=ERROR)


class _ControlledShutdown:
    __api_key__: ClassVar[i16] = i16(7)
    __version__: ClassVar[i16] = i16(3)


@dataclass(frozen=True, kw_only=True)
class ControlledShutdownRequest(_ControlledShutdown, FlexibleRequest):
    broker_id: i32 = field(metadata=INT32)
    broker_epoch: i64 = field(metadata=INT64)


@dataclass(frozen=True, kw_only=True)
class RemainingPartition(_ControlledShutdown, FlexibleNested):
    topic_name: str = field(metadata=STRING)
    partition_index: i32 = field(metadata=INT32)


@dataclass(frozen=True, kw_only=True)
class ControlledShutdownResponse(_ControlledShutdown, FlexibleResponse):
    error_code: ErrorCode = field(metadata=ERROR)
    remaining_partitions: tuple[RemainingPartition, ...]
