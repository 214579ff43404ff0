"""Requests of any API of Kafka from plain data, and responses as plain data, by the message schemas of kio.

Names are those of the message definitions in snake case: `create_partitions`, `validate_only`. Durations are in
milliseconds (`timeout`, `throttle_time`), bytes are text, and ids are text. `records` is text, or a batch: a mapping
with `records` (each with `value`, `key`, `timestamp`), `producer_id`, `producer_epoch`, `base_sequence`, and
`transactional`. Of a response they are a list of records, each with `offset`, `key` and `value`, and with `producer_id`
and `producer_epoch` if a producer gave them; text if they are compressed, damaged, or of a format before batches.
"""

from __future__ import annotations

import datetime
import difflib
import io
import struct
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import timedelta
from enum import IntEnum
from functools import cache
from typing import Any, get_args, get_type_hints

from kio.index import load_request_schema, load_response_schema
from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record, RecordBatch
from kio.records.writers import write_batch
from kio.schema.index import api_key_map, schema_name_map
from kio.serial.errors import DecodeError
from kio.static.primitive import TZAwareMicros, i8, i16, i64

from fencepost.harness.plan.later_messages import LATER
from fencepost.harness.plan.paths import MessageError

APIS: Mapping[str, int] = {name: key for key, name in api_key_map.items()}
"""The key of each API by its name."""

UNKNOWN = object()
"""Stands for a bound value before the run: it fits a field of any type."""

TRANSACTIONAL = 0x10
"""The attribute of a batch that belongs to a transaction."""
CONTROL = 0x20
"""The attribute of a batch that ends a transaction, and has no records of clients."""
_BATCH_LENGTH_AT = struct.Struct(">qi")
"""Base offset and length of a batch; the length counts from behind itself."""


def versions(api: str) -> tuple[int, ...]:
    """Return the known versions of an API, in order. Raise MessageError if there is no such API."""
    if api not in APIS:
        raise MessageError(f"there is no API `{api}`{_near(api, APIS)}")
    return tuple(sorted({*schema_name_map[api], *LATER.get(api, ())}))


def payload_types(api: str, version: int) -> tuple[type, type]:
    """Return the classes of request and response. Raise MessageError if this version is not known."""
    if version not in versions(api):
        raise MessageError(f"`{api}` has no version {version}: {versions(api)[0]} to {versions(api)[-1]} are known")
    if version in (later := LATER.get(api, {})):
        return later[version]
    return load_request_schema(APIS[api], version), load_response_schema(APIS[api], version)


def build(entity: type, data: Mapping[str, Any], value: Callable[[str], Any], at: str = "") -> Any:
    """Return the entity with the values in `data`; a field that it lacks has its default, null, no items or false.

    `value` gives what a text `$name` stands for, or UNKNOWN. Raise MessageError for a field that is unknown, missing or
    of another type.
    """
    known = {field.name: field for field in fields(entity)}
    for name in data:
        if name not in known:
            where = f"{at}{name}"
            raise MessageError(f"{entity.__name__} has no field `{where}`{_near(name, known)}")
    hints = _hints(entity)
    built = {}
    for name, field in known.items():
        if name in data:
            built[name] = _field_value(field, hints[name], data[name], value, f"{at}{name}")
        elif field.default is MISSING and field.default_factory is MISSING:
            built[name] = _implicit(hints[name])
            if built[name] is UNKNOWN:
                raise MessageError(f"{entity.__name__} needs the field `{at}{name}`; it has: {', '.join(known)}")
    return entity(**built)


def plain(value: Any) -> Any:
    """Return an entity, or a value of one, in the types of JSON."""
    match value:
        case _ if is_dataclass(value):
            return {field.name: _plain_field(field, getattr(value, field.name)) for field in fields(value)}
        case tuple():
            return [plain(each) for each in value]
        case IntEnum():
            return int(value)
        case timedelta():
            return round(value.total_seconds() * 1000)
        case datetime.datetime():
            return round(value.timestamp() * 1000)
        case uuid.UUID():
            return str(value)
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case _:
            return value


def _plain_field(field: Field[Any], value: Any) -> Any:
    if isinstance(value, bytes) and field.metadata.get("kafka_type") == "records":
        return _plain_records(value)
    return plain(value)


def _plain_records(data: bytes) -> Any:
    """Return the records of whole batches; brokers may end an answer within a batch. Text if they are not readable."""
    found: list[dict[str, Any]] = []
    position = 0
    while len(data) - position >= _BATCH_LENGTH_AT.size:
        _, length = _BATCH_LENGTH_AT.unpack_from(data, position)
        if position + _BATCH_LENGTH_AT.size + length > len(data):
            break
        try:
            batch, size = read_batch(data, position)
        except (ValueError, DecodeError):
            return plain(data)
        if not batch.attributes & CONTROL:
            found += [
                {"offset": int(each.offset), "key": plain(each.key), "value": plain(each.value)} | _producer(batch)
                for each in batch.records
            ]
        position += size
    return found


def _producer(batch: RecordBatch) -> dict[str, int]:
    if batch.producer_id < 0:
        return {}
    return {"producer_id": int(batch.producer_id), "producer_epoch": int(batch.producer_epoch)}


@cache
def _hints(entity: type) -> dict[str, Any]:
    return get_type_hints(entity)


def _field_value(field: Field[Any], hint: Any, data: Any, value: Callable[[str], Any], at: str) -> Any:
    if isinstance(data, str) and data.startswith("$"):
        data = value(data)
    if data is UNKNOWN:
        return data
    if data is None:
        if not _optional(hint):
            raise MessageError(f"`{at}` cannot be null")
        return None
    kinds = [each for each in _parts(hint) if each is not type(None)]
    [kind] = kinds[:1]
    if _is_list(kind):
        if not isinstance(data, list | tuple):
            raise MessageError(f"`{at}` is a list")
        item = get_args(kind)[0]
        return tuple(_item(field, item, each, value, f"{at}[{place}]") for place, each in enumerate(data))
    return _item(field, kind, data, value, at)


def _item(field: Field[Any], kind: Any, data: Any, value: Callable[[str], Any], at: str) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        if not isinstance(data, Mapping):
            raise MessageError(f"`{at}` is a mapping with the fields {', '.join(each.name for each in fields(kind))}")
        return build(kind, data, value, f"{at}.")
    data = _resolved(data, value)
    if isinstance(data, Mapping) and UNKNOWN in data.values():
        return UNKNOWN
    return data if data is UNKNOWN else _primitive(field.metadata.get("kafka_type", "string"), data, at)


def _resolved(data: Any, value: Callable[[str], Any]) -> Any:
    """Return the data with what `$name` stands for, also in the fields of a batch."""
    if isinstance(data, Mapping):
        return {key: _resolved(each, value) for key, each in data.items()}
    return value(data) if isinstance(data, str) and data.startswith("$") else data


def _primitive(kafka_type: str, data: Any, at: str) -> Any:
    def of(*types: type) -> None:
        if not isinstance(data, types) or (isinstance(data, bool) and bool not in types):
            raise MessageError(f"`{at}` is of the type {kafka_type}, which {data!r} is not")

    match kafka_type:
        case "timedelta_i32" | "timedelta_i64":
            of(int)
            return timedelta(milliseconds=data)
        case "datetime_i64":
            of(int)
            return datetime.datetime.fromtimestamp(data / 1000, datetime.UTC)
        case "uuid":
            of(str)
            return uuid.UUID(data)
        case "records" if isinstance(data, Mapping):
            return _batch(data, at)
        case "bytes" | "records":
            of(str)
            return data.encode()
        case "string":
            of(str)
        case "bool":
            of(bool)
        case "float64":
            of(int, float)
        case _:
            of(int)
    return data


def _batch(data: Mapping[str, Any], at: str) -> bytes:
    """Return a record batch. It is of no producer, and no transaction, unless the data says so."""
    defaults: dict[str, Any] = {
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "transactional": False,
        "records": [],
    }
    for name in data:
        if name not in defaults:
            raise MessageError(f"a batch has no field `{at}.{name}`{_near(name, defaults)}")
    batch = {**defaults, **data}
    records = tuple(_record(each, place, f"{at}.records[{place}]") for place, each in enumerate(batch["records"]))
    if not records:
        raise MessageError(f"`{at}.records` is empty: a batch has at least one record")
    out = io.BytesIO()
    write_batch(
        out,
        NewRecordBatch(
            producer_id=batch["producer_id"],
            producer_epoch=batch["producer_epoch"],
            base_sequence=batch["base_sequence"],
            attributes=i16(TRANSACTIONAL if batch["transactional"] else 0),
            records=records,
        ),
    )
    return out.getvalue()


def _record(data: Mapping[str, Any], offset: int, at: str) -> Record:
    """Return a record with `value`, `key` and `timestamp` (milliseconds since 1970; else the time of the request)."""
    for name in data:
        if name not in ("value", "key", "timestamp"):
            raise MessageError(f"a record has no field `{at}.{name}`; known: value, key, timestamp")
    now = time.time_ns() // 1_000_000
    at_time = datetime.datetime.fromtimestamp(data.get("timestamp", now) / 1000, datetime.UTC)
    key, value = (None if (text := data.get(name)) is None else str(text).encode() for name in ("key", "value"))
    return Record(
        attributes=i8(0), timestamp=TZAwareMicros.parse(at_time), offset=i64(offset), key=key, value=value, headers=()
    )


def _implicit(hint: Any) -> Any:
    """Return the value of a field without one: null, no items or false; UNKNOWN if there is none."""
    if _optional(hint):
        return None
    return () if _is_list(hint) else False if hint is bool else UNKNOWN


def _is_list(hint: Any) -> bool:
    return getattr(hint, "__origin__", None) is tuple


def _optional(hint: Any) -> bool:
    return type(None) in _parts(hint)


def _parts(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type alone."""
    is_union = type(None) in get_args(hint)
    return get_args(hint) if is_union else (hint,)


def _near(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f": did you mean `{near[0]}`?" if near else f"; known: {', '.join(known)}"
