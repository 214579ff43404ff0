"""Metadata records (KIP-631, Record Formats): an unsigned varint each for type and version, then the payload.

Version 0 is the record as drafted. Version 1 has the same fields and a section of tagged fields (decision D631-28): a
node ignores those that it does not know.
"""

from collections.abc import Mapping
from types import MappingProxyType

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Buffer, Malformed, Message, read_uvarint, uvarint

RECORD_TYPES: Mapping[int, type[Message]] = MappingProxyType(
    {
        record.API_KEY: record
        for record in (
            m.BrokerRecord,
            m.TopicRecord,
            m.PartitionRecord,
            m.ConfigRecord,
            m.IsrChangeRecord,
            m.AccessControlRecord,
            m.DeleteBrokerRecord,
            m.DeleteTopicRecord,
            m.HistoryRecord,
            m.DeleteAccessControlRecord,
            m.FeatureLevelRecord,
        )
    }
)


def encode_record(record: Message) -> bytes:
    """Return the value of a record in the metadata log, in the newest version of its type."""
    version = record.MAX_VERSION
    return uvarint(record.API_KEY) + uvarint(version) + record.encode(version)


def decode_record(value: Buffer) -> Message:
    """Decode a record. Raises Malformed, also for a type or version that this software is too old to know."""
    try:
        record_type, position = read_uvarint(value, 0)
        version, position = read_uvarint(value, position)
    except IndexError as error:
        raise Malformed("metadata record: it ends within its type and version") from error
    known = RECORD_TYPES.get(record_type)
    if known is None:
        raise Malformed(f"metadata record: type {record_type} is unknown")
    if not known.MIN_VERSION <= version <= known.MAX_VERSION:
        raise Malformed(f"metadata record: {known.__name__} has no version {version}")
    return known.decode(value, version, position)
