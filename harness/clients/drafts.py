"""Requests of the KIP-631 draft, which no library has: BrokerHeartbeat (its Public Interfaces) and AlterIsr (KIP-497).

Their keys are other requests in shipped Kafka, so they are only ever sent to a target of that dialect. kio looks at the
annotations themselves, so this module must not postpone them.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar

from kio.schema.errors import ErrorCode
from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.static.constants import EntityType
from kio.static.primitive import i8, i16, i32, i32Timedelta, i64

INT8: Any = {"kafka_type": "int8"}
INT16: Any = {"kafka_type": "int16"}
INT32: Any = {"kafka_type": "int32"}
INT64: Any = {"kafka_type": "int64"}
STRING: Any = {"kafka_type": "string"}
ERROR: Any = {"kafka_type": "error_code"}
DURATION: Any = {"kafka_type": "timedelta_i32"}


class BrokerState(IntEnum):
    """The draft's states of a broker, as heartbeats carry them."""

    UNKNOWN = 0
    INITIAL = 1
    FENCED = 2
    ACTIVE = 3
    SHUTDOWN = 4


class _Draft:
    """What kio asks every entity of version 0 of a flexible message for."""

    __version__: ClassVar[i16] = i16(0)
    __flexible__: ClassVar[bool] = True


class _Heartbeat(_Draft):
    __api_key__: ClassVar[i16] = i16(50)


class _AlterIsr(_Draft):
    __api_key__: ClassVar[i16] = i16(56)


@dataclass(frozen=True, kw_only=True)
class Listener(_Heartbeat):
    """`port` is an int16 on the wire: ports above 32767 are sent as the negative number of the same bits."""

    __type__: ClassVar = EntityType.nested
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    name: str = field(metadata=STRING)
    host: str = field(metadata=STRING)
    port: i16 = field(metadata=INT16)
    security_protocol: i16 = field(metadata=INT16, default=i16(0))


@dataclass(frozen=True, kw_only=True)
class BrokerHeartbeatRequest(_Heartbeat):
    __type__: ClassVar = EntityType.request
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    target_state: i8 = field(metadata=INT8)
    broker_id: i32 = field(metadata=INT32)
    broker_epoch: i64 = field(metadata=INT64, default=i64(-1))
    lease_start_time_ms: i64 = field(metadata=INT64)
    cur_metadata_offset: i64 = field(metadata=INT64)
    listeners: tuple[Listener, ...]


@dataclass(frozen=True, kw_only=True)
class BrokerHeartbeatResponse(_Heartbeat):
    __type__: ClassVar = EntityType.response
    __header_schema__: ClassVar[type[ResponseHeader]] = ResponseHeader
    throttle_time: i32Timedelta = field(metadata=DURATION)
    error_code: ErrorCode = field(metadata=ERROR)
    active_controller_id: i32 = field(metadata=INT32)
    next_state: i8 = field(metadata=INT8)
    broker_epoch: i64 = field(metadata=INT64, default=i64(-1))
    lease_end_time_ms: i64 = field(metadata=INT64)


@dataclass(frozen=True, kw_only=True)
class AlterIsrPartition(_AlterIsr):
    __type__: ClassVar = EntityType.nested
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    partition_index: i32 = field(metadata=INT32)
    leader_epoch: i32 = field(metadata=INT32)
    new_isr: tuple[i32, ...] = field(metadata=INT32, default=())
    current_isr_version: i32 = field(metadata=INT32)


@dataclass(frozen=True, kw_only=True)
class AlterIsrTopic(_AlterIsr):
    __type__: ClassVar = EntityType.nested
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    name: str = field(metadata=STRING)
    partitions: tuple[AlterIsrPartition, ...]


@dataclass(frozen=True, kw_only=True)
class AlterIsrRequest(_AlterIsr):
    __type__: ClassVar = EntityType.request
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    broker_id: i32 = field(metadata=INT32)
    broker_epoch: i64 = field(metadata=INT64)
    topics: tuple[AlterIsrTopic, ...]


@dataclass(frozen=True, kw_only=True)
class AlterIsrPartitionResult(_AlterIsr):
    __type__: ClassVar = EntityType.nested
    __header_schema__: ClassVar[type[ResponseHeader]] = ResponseHeader
    partition_index: i32 = field(metadata=INT32)
    error_code: ErrorCode = field(metadata=ERROR)
    leader_id: i32 = field(metadata=INT32)
    leader_epoch: i32 = field(metadata=INT32)
    isr: tuple[i32, ...] = field(metadata=INT32, default=())
    current_isr_version: i32 = field(metadata=INT32)


@dataclass(frozen=True, kw_only=True)
class AlterIsrTopicResult(_AlterIsr):
    __type__: ClassVar = EntityType.nested
    __header_schema__: ClassVar[type[ResponseHeader]] = ResponseHeader
    name: str = field(metadata=STRING)
    partitions: tuple[AlterIsrPartitionResult, ...]


@dataclass(frozen=True, kw_only=True)
class AlterIsrResponse(_AlterIsr):
    __type__: ClassVar = EntityType.response
    __header_schema__: ClassVar[type[ResponseHeader]] = ResponseHeader
    throttle_time: i32Timedelta = field(metadata=DURATION)
    error_code: ErrorCode = field(metadata=ERROR)
    topics: tuple[AlterIsrTopicResult, ...]
