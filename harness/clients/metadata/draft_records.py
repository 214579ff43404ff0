"""Whole records of KIP-631's metadata log: the envelope and every field, as plain data (KIP-631, Record Formats).

A value is an unsigned varint type, an unsigned varint version, and the fields. Version 0 is the record as drafted. From
version 1 on lengths are compact, and a section of tagged fields ends each group of fields (D631-28, KIP-482).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.harness.clients.metadata.cursor import Cursor

Read = Callable[[Cursor], Any]
Fields = tuple[tuple[str, Read], ...]

NEWEST = 1
"""The newest version of each record that is known here."""


class MalformedRecord(ValueError):
    """The bytes are no record of the log; the message says why."""


@dataclass(frozen=True)
class DraftRecord:
    """A record by the name that the text gives it. `fields` are in snake case; ids of topics are text."""

    name: str
    version: int
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class _Layout:
    """The fields of a record in their order, and its tagged ones by tag. `lowest` is its first version."""

    name: str
    fields: Fields
    tagged: Mapping[int, tuple[str, Read]] = field(default_factory=dict)
    lowest: int = 0


def decode(value: bytes, *, only: Collection[str] | None = None) -> DraftRecord:
    """Return the record in a value. Raise MalformedRecord.

    Without `only` it is read to its last byte, and has to be of a known type and version. With `only`, the names of
    records, others have no fields, and tagged fields and what a newer version added are left out.
    """
    cursor = Cursor(value, flexible=False)
    try:
        kind, version = cursor.uvarint(), cursor.uvarint()
        layout = LAYOUTS.get(kind)
        if only is not None and (layout is None or layout.name not in only):
            return DraftRecord(f"type {kind}", version, {})
        if layout is None:
            raise MalformedRecord(f"type {kind} is unknown")
        if only is None and not layout.lowest <= version <= NEWEST:
            raise MalformedRecord(f"{layout.name} has no version {version}")
        cursor.flexible = version > 0
        fields = {name: read(cursor) for name, read in layout.fields}
        if only is not None:
            return DraftRecord(layout.name, version, fields)
        for tag, content in cursor.tags().items():
            if tag in layout.tagged:
                name, read = layout.tagged[tag]
                fields[name] = _whole(content, read, f"the tagged field {name} of {layout.name}")
    except (IndexError, struct.error) as error:
        raise MalformedRecord(f"it ends too early: {error}") from error
    except UnicodeDecodeError as error:
        raise MalformedRecord(f"a text is not UTF-8: {error}") from error
    if rest := cursor.rest():
        raise MalformedRecord(f"{len(rest)} bytes follow the fields of {layout.name}")
    return DraftRecord(layout.name, version, fields)


def _whole(content: bytes, read: Read, what: str) -> Any:
    inside = Cursor(content, flexible=True)
    value = read(inside)
    if rest := inside.rest():
        raise MalformedRecord(f"{len(rest)} bytes follow {what}")
    return value


def _text(cursor: Cursor) -> str:
    found = cursor.string()
    if found is None:
        raise MalformedRecord("a text is null that cannot be")
    return found


def _value(cursor: Cursor) -> str | None:
    """A setting without a value is removed; the record as drafted has always one (D631-31)."""
    return cursor.string() if cursor.flexible else _text(cursor)


def _id(cursor: Cursor) -> str:
    return str(cursor.uuid())


def _int32s(cursor: Cursor) -> list[int]:
    return cursor.array(cursor.int32)


def _int64s(cursor: Cursor) -> list[int]:
    return cursor.array(cursor.int64)


def _many(*fields: tuple[str, Read]) -> Read:
    def read(cursor: Cursor) -> list[dict[str, Any]]:
        def item() -> dict[str, Any]:
            found = {name: each(cursor) for name, each in fields}
            cursor.tags()
            return found

        return cursor.array(item)

    return read


_END_POINTS = _many(("name", _text), ("host", _text), ("port", Cursor.int16), ("security_protocol", Cursor.int16))
_FEATURES = _many(("name", _text), ("min_version", Cursor.int16), ("max_version", Cursor.int16))
_PARTITION: Fields = (("partition_id", Cursor.int32), ("topic_id", _id))
_LEADER: Fields = (("leader", Cursor.int32), ("leader_epoch", Cursor.int32))
_ACCESS: Fields = (
    ("resource_type", Cursor.int8),
    ("resource_name", Cursor.string),
    ("pattern_type", Cursor.int8),
    ("principal", _text),
    ("host", _text),
    ("operation", Cursor.int8),
    ("permission_type", Cursor.int8),
)
_CONFIG: Fields = (("resource_type", Cursor.int8), ("resource_name", _text), ("name", _text), ("value", _value))

LAYOUTS: Mapping[int, _Layout] = {
    0: _Layout(
        "BrokerRecord",
        (
            ("broker_id", Cursor.int32),
            ("broker_epoch", Cursor.int64),
            ("end_points", _END_POINTS),
            ("rack", Cursor.string),
        ),
        {0: ("since", Cursor.int64), 1: ("features", _FEATURES)},
    ),
    1: _Layout("TopicRecord", (("name", _text), ("topic_id", _id), ("deleting", Cursor.boolean))),
    2: _Layout(
        "PartitionRecord",
        (
            *_PARTITION,
            ("replicas", _int32s),
            ("isr", _int32s),
            ("removing_replicas", _int32s),
            ("adding_replicas", _int32s),
            *_LEADER,
        ),
        {0: ("leader_term_epoch", Cursor.int32), 1: ("joined", _int64s)},
    ),
    3: _Layout("ConfigRecord", _CONFIG),
    4: _Layout("IsrChangeRecord", (*_PARTITION, ("isr", _int32s), *_LEADER)),
    5: _Layout("AccessControlRecord", _ACCESS),
    6: _Layout("DeleteBrokerRecord", (("id", Cursor.int32),)),
    7: _Layout("DeleteTopicRecord", (("name", _id),)),
    1000: _Layout(
        "HistoryRecord", (("partitions_created", Cursor.int64), ("deleted_leader_epoch", Cursor.int32)), lowest=1
    ),
    1001: _Layout("DeleteAccessControlRecord", _ACCESS, lowest=1),
    1002: _Layout("FeatureLevelRecord", (("name", _text), ("level", Cursor.int16)), lowest=1),
}
"""By type. The draft has 0 to 7; those from 1000 on are of our own (decisions 0053 and 0069)."""
