"""Requests in versions that kio does not have yet, or cannot read, by API and version, each with its response.

Source: the message definitions of Apache Kafka 4.4. kio looks at the annotations themselves, so this module must not
postpone them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kio.schema.api_versions.v4 import ApiVersionsRequest as _Request
from kio.schema.api_versions.v4 import ApiVersionsResponse as _Response
from kio.schema.describe_transactions.v0 import DescribeTransactionsRequest
from kio.schema.describe_transactions.v0 import DescribeTransactionsResponse as _DescribeTransactionsResponse
from kio.schema.describe_transactions.v0.response import TransactionState as _TransactionState
from kio.static.primitive import i16, i32, i64


@dataclass(frozen=True, kw_only=True)
class ApiVersionsRequest(_Request):
    """Version 5: the client names the node that it means to reach (KIP-1242)."""

    __version__: ClassVar[i16] = i16(5)
    cluster_id: str | None = field(metadata={"kafka_type": "string"}, default=None)
    """None: any cluster."""
    node_id: i32 = field(metadata={"kafka_type": "int32"}, default=i32(-1))
    """-1: any node."""


@dataclass(frozen=True, kw_only=True)
class ApiVersionsResponse(_Response):
    """Version 5: as version 4, with one error more."""

    __version__: ClassVar[i16] = i16(5)


@dataclass(frozen=True, kw_only=True)
class TransactionState(_TransactionState):
    """As in kio, which has no time of -1: the start of a transaction that has not begun."""

    transaction_start_time: i64 = field(metadata={"kafka_type": "int64"})  # type: ignore[assignment]
    """Milliseconds since 1970."""


@dataclass(frozen=True, kw_only=True)
class DescribeTransactionsResponse(_DescribeTransactionsResponse):
    """Version 0."""

    transaction_states: tuple[TransactionState, ...]


LATER: Mapping[str, Mapping[int, tuple[type, type]]] = {
    "api_versions": {5: (ApiVersionsRequest, ApiVersionsResponse)},
    "describe_transactions": {0: (DescribeTransactionsRequest, DescribeTransactionsResponse)},
}
