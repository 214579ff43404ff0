"""Requests in versions that kio does not have yet, by API and version, each with its response.

Source: the message definitions of Apache Kafka 4.4. kio looks at the annotations themselves, so this module must not
postpone them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kio.schema.api_versions.v4 import ApiVersionsRequest as _Request
from kio.schema.api_versions.v4 import ApiVersionsResponse as _Response
from kio.static.primitive import i16, i32


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


LATER: Mapping[str, Mapping[int, tuple[type, type]]] = {
    "api_versions": {5: (ApiVersionsRequest, ApiVersionsResponse)},
}
