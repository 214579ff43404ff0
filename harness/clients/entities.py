"""What the messages that no library has are made of: the parts of kio's entities that are the same in all of them.

kio looks at the annotations themselves, so a module that defines entities must not postpone them.
"""

from typing import Any, ClassVar

from kio.schema.request_header.v1.header import RequestHeader as RequestHeaderV1
from kio.schema.request_header.v2.header import RequestHeader as RequestHeaderV2
from kio.schema.response_header.v0.header import ResponseHeader as ResponseHeaderV0
from kio.schema.response_header.v1.header import ResponseHeader as ResponseHeaderV1
from kio.static.constants import EntityType

BOOL: Any = {"kafka_type": "bool"}
INT8: Any = {"kafka_type": "int8"}
INT16: Any = {"kafka_type": "int16"}
INT32: Any = {"kafka_type": "int32"}
INT64: Any = {"kafka_type": "int64"}
STRING: Any = {"kafka_type": "string"}
UUID: Any = {"kafka_type": "uuid"}
ERROR: Any = {"kafka_type": "error_code"}
DURATION: Any = {"kafka_type": "timedelta_i32"}


class Flexible:
    """Compact lengths and tagged fields."""

    __flexible__: ClassVar[bool] = True


class Plain:
    """Neither."""

    __flexible__: ClassVar[bool] = False


class Request:
    __type__: ClassVar = EntityType.request


class Response:
    __type__: ClassVar = EntityType.response


class FlexibleRequest(Flexible, Request):
    __header_schema__: ClassVar[type[RequestHeaderV2]] = RequestHeaderV2


class FlexibleResponse(Flexible, Response):
    __header_schema__: ClassVar[type[ResponseHeaderV1]] = ResponseHeaderV1


class PlainRequest(Plain, Request):
    __header_schema__: ClassVar[type[RequestHeaderV1]] = RequestHeaderV1


class PlainResponse(Plain, Response):
    __header_schema__: ClassVar[type[ResponseHeaderV0]] = ResponseHeaderV0


class FlexibleNested(Flexible):
    __type__: ClassVar = EntityType.nested


class PlainNested(Plain):
    __type__: ClassVar = EntityType.nested
