"""Entities of kio for messages that it does not have, made from `definitions/*.json`; and entities from plain data.

A definition has the form of Apache Kafka's, with the names and types that kio gives to fields, in the one version that
the harness sends:

- requests of ZooKeeper mode between brokers and controller, in the newest version of all releases from 2.8 to 3.9
- requests of 0.10.2 in versions that kio has dropped
- BrokerHeartbeat and ControllerHeartbeat of the KIP-631 draft, and AlterIsr of KIP-497: shipped Kafka has others under
  these keys, so they are only ever sent to a target of that dialect
- KIP-343's two requests and ReplicaStateEvent (KIP-589 v7), as drafted, under the private keys that they have here;
  their errors are more than kio knows, so they are plain numbers
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

from kio.schema.errors import ErrorCode
from kio.schema.request_header.v1.header import RequestHeader as RequestHeaderV1
from kio.schema.request_header.v2.header import RequestHeader as RequestHeaderV2
from kio.schema.response_header.v0.header import ResponseHeader as ResponseHeaderV0
from kio.schema.response_header.v1.header import ResponseHeader as ResponseHeaderV1
from kio.static.constants import EntityType
from kio.static.primitive import Records, i8, i16, i32, i32Timedelta, i64

_TYPES: Mapping[str, Any] = {
    "bool": bool,
    "int8": i8,
    "int16": i16,
    "int32": i32,
    "int64": i64,
    "string": str,
    "records": Records,
    "uuid": uuid.UUID | None,
    "error_code": ErrorCode,
    "timedelta_i32": i32Timedelta,
}
_HEADERS = {
    (EntityType.request, False): RequestHeaderV1,
    (EntityType.request, True): RequestHeaderV2,
    (EntityType.response, False): ResponseHeaderV0,
    (EntityType.response, True): ResponseHeaderV1,
}


@cache
def own_module(key: int, version: int) -> Any:
    """Return the messages of a request as a module of kio has them; None if there is no definition."""
    definition = _definitions().get((key, version))
    if definition is None:
        return None
    messages: dict[str, Any] = {}
    for kind in (EntityType.request, EntityType.response):
        structs: dict[str, type] = {}
        name = f"{definition['name']}{kind.name.capitalize()}"
        messages[name] = _entity(name, definition, definition[kind.name], kind, structs)
        messages[kind.name] = SimpleNamespace(**structs)
    return SimpleNamespace(**messages)


@cache
def _definitions() -> Mapping[tuple[int, int], Mapping[str, Any]]:
    folder = Path(__file__).with_name("definitions")
    read = (json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json")))
    return {(each["apiKey"], each["version"]): each for each in read}


def _entity(
    name: str,
    message: Mapping[str, Any],
    parts: Sequence[Mapping[str, Any]],
    kind: EntityType,
    structs: dict[str, type],
) -> type:
    """Return the class of a message or of a struct in it, and enter the structs in it into `structs`."""
    made: list[tuple[str, Any, Any]] = []
    for part in parts:
        type_name = part["type"].removeprefix("[]")
        options: dict[str, Any] = {"metadata": {"tag": part["tag"]} if "tag" in part else {}}
        hint: Any
        if "fields" in part:
            hint = structs[type_name] = _entity(type_name, message, part["fields"], EntityType.nested, structs)
        else:
            hint = _TYPES[type_name]
            options["metadata"]["kafka_type"] = type_name
        if part["type"].startswith("[]"):
            hint, options["default"] = tuple[hint, ...], ()
        if part.get("nullable"):
            hint = hint | None
        if "default" in part:
            options["default"] = part["default"]
        made.append((part["name"], hint, field(**options)))
    namespace = {
        "__type__": kind,
        "__api_key__": i16(message["apiKey"]),
        "__version__": i16(message["version"]),
        "__flexible__": message["flexible"],
        "__header_schema__": _HEADERS.get((kind, message["flexible"])),
    }
    return make_dataclass(name, made, namespace=namespace, frozen=True, kw_only=True)


def entity(kind: type, data: Mapping[str, Any], *, whole: bool = True) -> Any:
    """Return an entity with these values: structs are mappings, lists are sequences, and durations are milliseconds.

    A field that is missing has its default; a flag is false without one, as in Kafka. A name that the entity lacks is a
    TypeError, or left out unless `whole`.
    """
    parts = _parts(kind)
    if not whole:
        data = {name: value for name, value in data.items() if name in parts}
    values = {name: _value(*parts.get(name, (None, "")), value, whole) for name, value in data.items()}
    return kind(**{**_flags(kind), **values})


def _value(struct: Any, kafka_type: str, value: Any, whole: bool) -> Any:
    if isinstance(value, Mapping):
        return entity(struct, value, whole=whole)
    if isinstance(value, list | tuple):
        return tuple(_value(struct, kafka_type, item, whole) for item in value)
    return timedelta(milliseconds=value) if kafka_type == "timedelta_i32" else value


@cache
def _parts(kind: type) -> Mapping[str, tuple[Any, str]]:
    """Return the struct in each field, None if it has none, and its type on the wire."""
    return {each.name: (_struct(each.type), each.metadata.get("kafka_type", "")) for each in fields(kind)}


@cache
def _flags(kind: type) -> Mapping[str, bool]:
    """Return false for each flag without a default."""
    return {each.name: False for each in fields(kind) if each.type is bool and each.default is MISSING}


def _struct(hint: Any) -> Any:
    """Return the entity in the type of a field: of an item, of what may be null, or the type itself."""
    if is_dataclass(hint):
        return hint
    return next((struct for part in get_args(hint) if (struct := _struct(part)) is not None), None)
