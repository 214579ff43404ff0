"""The common parts of kio entities, for messages that no library has.

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
RECORDS: Any = {"kafka_type": "records"}
UUID: Any = {"kafka_type": "uuid"}
ERROR: Any = {"kafka_type": "error_code"}
DURATION: Any = {"kafka_type": "timedelta_i32"}


class FlexibleEntity:
    """Compact lengths and tagged fields."""

    __flexible__: ClassVar[bool] = True


class PlainEntity:
    """Neither."""

    __flexible__: ClassVar[bool] = False


class RequestEntity:
    __type__: ClassVar = EntityType.request


class ResponseEntity:
    __type__: ClassVar = EntityType.response


class FlexibleRequest(FlexibleEntity, RequestEntity):
    __header_schema__: ClassVar[type[RequestHeaderV2]] = RequestHeaderV2


class FlexibleResponse(FlexibleEntity, ResponseEntity):
    __header_schema__: ClassVar[type[ResponseHeaderV1]] = ResponseHeaderV1


class PlainRequest(PlainEntity, RequestEntity):
    __header_schema__: ClassVar[type[RequestHeaderV1]] = RequestHeaderV1


class PlainResponse(PlainEntity, ResponseEntity):
    __header_schema__: ClassVar[type[ResponseHeaderV0]] = ResponseHeaderV0


class FlexibleNested(FlexibleEntity):
    __type__: ClassVar = EntityType.nested


class PlainNested(PlainEntity):
    __type__: ClassVar = EntityType.nested
