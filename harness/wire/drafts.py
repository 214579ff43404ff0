"""Requests of the KIP-631 draft, which no library has: BrokerHeartbeat (its Public Interfaces) and AlterIsr (KIP-497).

Their keys are other requests in shipped Kafka, so they are only ever sent to a target of that dialect. kio looks at the
annotations themselves, so this module must not postpone them.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar

from kio.schema.errors import ErrorCode
from kio.static.primitive import i8, i16, i32, i32Timedelta, i64

from fencepost.harness.wire.entities import (
    BOOL,
    DURATION,
    ERROR,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    FlexibleNested,
    FlexibleRequest,
    FlexibleResponse,
)


class DraftBrokerState(IntEnum):
    """The draft's states of a broker, as heartbeats carry them."""

    UNKNOWN = 0
    INITIAL = 1
    FENCED = 2
    ACTIVE = 3
    SHUTDOWN = 4


class _Heartbeat:
    __api_key__: ClassVar[i16] = i16(50)
    __version__: ClassVar[i16] = i16(0)


class _ControllerHeartbeat:
    __api_key__: ClassVar[i16] = i16(51)
    __version__: ClassVar[i16] = i16(0)


class _AlterIsr:
    __api_key__: ClassVar[i16] = i16(56)
    __version__: ClassVar[i16] = i16(0)


@dataclass(frozen=True, kw_only=True)
class HeartbeatListener(_Heartbeat, FlexibleNested):
    """`port` is an int16 on the wire: ports above 32767 are sent as the negative number of the same bits."""

    name: str = field(metadata=STRING)
    host: str = field(metadata=STRING)
    port: i16 = field(metadata=INT16)
    security_protocol: i16 = field(metadata=INT16, default=i16(0))


@dataclass(frozen=True, kw_only=True)
class SupportedFeature(_Heartbeat, FlexibleNested):
    """The levels of a feature that the sender supports, both included."""

    name: str = field(metadata=STRING)
    min_version: i16 = field(metadata=INT16)
    max_version: i16 = field(metadata=INT16)


EVERY_LEVEL = SupportedFeature(name="metadata.format", min_version=i16(1), max_version=i16(32767))
"""The report of probes: they read no metadata, so that no level of the cluster is beyond them."""


@dataclass(frozen=True, kw_only=True)
class BrokerHeartbeatRequest(_Heartbeat, FlexibleRequest):
    target_state: i8 = field(metadata=INT8)
    broker_id: i32 = field(metadata=INT32)
    broker_epoch: i64 = field(metadata=INT64, default=i64(-1))
    lease_start_time_ms: i64 = field(metadata=INT64)
    cur_metadata_offset: i64 = field(metadata=INT64)
    listeners: tuple[HeartbeatListener, ...]
    features: tuple[SupportedFeature, ...] = field(metadata={"tag": 1}, default=())
    unknown: str = field(metadata=STRING | {"tag": 77}, default="")
    """A tagged field that the draft does not have."""


@dataclass(frozen=True, kw_only=True)
class BrokerHeartbeatResponse(_Heartbeat, FlexibleResponse):
    throttle_time: i32Timedelta = field(metadata=DURATION)
    error_code: ErrorCode = field(metadata=ERROR)
    active_controller_id: i32 = field(metadata=INT32)
    next_state: i8 = field(metadata=INT8)
    broker_epoch: i64 = field(metadata=INT64, default=i64(-1))
    lease_end_time_ms: i64 = field(metadata=INT64)


@dataclass(frozen=True, kw_only=True)
class ControllerHeartbeatRequest(_ControllerHeartbeat, FlexibleRequest):
    controller_id: i32 = field(metadata=INT32)
    last_snapshot_offset: i64 = field(metadata=INT64)


@dataclass(frozen=True, kw_only=True)
class ControllerHeartbeatResponse(_ControllerHeartbeat, FlexibleResponse):
    throttle_time: i32Timedelta = field(metadata=DURATION)
    error_code: ErrorCode = field(metadata=ERROR)
    start_snapshot: bool = field(metadata=BOOL)


@dataclass(frozen=True, kw_only=True)
class AlterIsrPartition(_AlterIsr, FlexibleNested):
    partition_index: i32 = field(metadata=INT32)
    leader_epoch: i32 = field(metadata=INT32)
    new_isr: tuple[i32, ...] = field(metadata=INT32, default=())
    current_isr_version: i32 = field(metadata=INT32)


@dataclass(frozen=True, kw_only=True)
class AlterIsrTopic(_AlterIsr, FlexibleNested):
    name: str = field(metadata=STRING)
    partitions: tuple[AlterIsrPartition, ...]


@dataclass(frozen=True, kw_only=True)
class AlterIsrRequest(_AlterIsr, FlexibleRequest):
    broker_id: i32 = field(metadata=INT32)
    broker_epoch: i64 = field(metadata=INT64)
    topics: tuple[AlterIsrTopic, ...]


@dataclass(frozen=True, kw_only=True)
class AlterIsrPartitionResult(_AlterIsr, FlexibleNested):
    partition_index: i32 = field(metadata=INT32)
    error_code: ErrorCode = field(metadata=ERROR)
    leader_id: i32 = field(metadata=INT32)
    leader_epoch: i32 = field(metadata=INT32)
    isr: tuple[i32, ...] = field(metadata=INT32, default=())
    current_isr_version: i32 = field(metadata=INT32)


@dataclass(frozen=True, kw_only=True)
class AlterIsrTopicResult(_AlterIsr, FlexibleNested):
    name: str = field(metadata=STRING)
    partitions: tuple[AlterIsrPartitionResult, ...]


@dataclass(frozen=True, kw_only=True)
class AlterIsrResponse(_AlterIsr, FlexibleResponse):
    throttle_time: i32Timedelta = field(metadata=DURATION)
    error_code: ErrorCode = field(metadata=ERROR)
    topics: tuple[AlterIsrTopicResult, ...]
