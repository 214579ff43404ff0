"""The facts of the metadata log that both dialects share, and their encodings.

KIP-631 v28 frames a record as uvarint type, uvarint version, payload (`draft_records`). Apache Kafka puts one more
uvarint before it, the version of the frame, and all its payloads are flexible. Records that say nothing about brokers,
leaders and ISRs decode to None.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.harness.clients.metadata import draft_records
from fencepost.harness.clients.metadata.cursor import Cursor


@dataclass(frozen=True)
class BrokerRegistrationFact:
    """The id belongs to this incarnation from now on. In the draft it may serve at once; Kafka starts it fenced."""

    broker: int
    epoch: int
    fenced: bool


@dataclass(frozen=True)
class BrokerFencingFact:
    """Fenced or unfenced, at the epoch it has."""

    broker: int
    fenced: bool


@dataclass(frozen=True)
class BrokerRemovalFact:
    """In the draft a lease that ended; it leaves every ISR."""

    broker: int


@dataclass(frozen=True)
class TopicFact:
    id: uuid.UUID
    name: str


@dataclass(frozen=True)
class TopicRemovalFact:
    id: uuid.UUID


@dataclass(frozen=True)
class PartitionFact:
    """A partition as a whole. `version` is Kafka's partition epoch; in the draft the leader epoch is the version."""

    topic: uuid.UUID
    partition: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    version: int
    removing: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()


@dataclass(frozen=True)
class PartitionChangeFact:
    """None: as it was. A leader that is named, even the same, raises Kafka's leader epoch by one."""

    topic: uuid.UUID
    partition: int
    isr: tuple[int, ...] | None
    leader: int | None
    leader_epoch: int | None = None
    replicas: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None


Fact = (
    BrokerRegistrationFact
    | BrokerFencingFact
    | BrokerRemovalFact
    | TopicFact
    | TopicRemovalFact
    | PartitionFact
    | PartitionChangeFact
)

Decoders = Mapping[int, Callable[[Cursor, int], Fact | None]]


def decode_draft(value: bytes) -> Fact | None:
    """A record of KIP-631 v28, Record Formats, also with fields that are not known here. Raise MalformedRecord."""
    record = draft_records.decode(value, only=_DRAFT)
    known = record.fields
    match record.name:
        case "BrokerRecord":
            return BrokerRegistrationFact(known["broker_id"], known["broker_epoch"], fenced=False)
        case "TopicRecord":  # a topic that is being deleted is there until a record removes it (D631-41)
            return TopicFact(uuid.UUID(known["topic_id"]), known["name"])
        case "PartitionRecord":
            return _draft_partition(known)
        case "IsrChangeRecord":
            topic, isr = uuid.UUID(known["topic_id"]), tuple(known["isr"])
            return PartitionChangeFact(topic, known["partition_id"], isr, known["leader"], known["leader_epoch"])
        case "DeleteBrokerRecord":
            return BrokerRemovalFact(known["id"])
        case "DeleteTopicRecord":
            return TopicRemovalFact(uuid.UUID(known["name"]))
    return None


_DRAFT = frozenset(
    {"BrokerRecord", "TopicRecord", "PartitionRecord", "IsrChangeRecord", "DeleteBrokerRecord", "DeleteTopicRecord"}
)
"""The records of the draft that say something about brokers, leaders and ISRs."""


def _draft_partition(known: Mapping[str, Any]) -> Fact:
    return PartitionFact(
        uuid.UUID(known["topic_id"]),
        known["partition_id"],
        tuple(known["replicas"]),
        tuple(known["isr"]),
        known["leader"],
        known["leader_epoch"],
        version=known["leader_epoch"],
        removing=tuple(known["removing_replicas"]),
        adding=tuple(known["adding_replicas"]),
    )


def decode_kraft(value: bytes) -> Fact | None:
    """A record of Apache Kafka's metadata log, versions 3.3 to 4.4."""
    cursor = Cursor(value, flexible=True)
    cursor.uvarint()
    kind, version = cursor.uvarint(), cursor.uvarint()
    decoder = _KRAFT.get(kind)
    return None if decoder is None else decoder(cursor, version)


def _kraft_register(cursor: Cursor, version: int) -> Fact:
    broker = cursor.int32()
    if version >= 2:
        cursor.boolean()  # isMigratingZkBroker
    cursor.uuid()  # incarnation
    epoch = cursor.int64()
    cursor.array(lambda: (cursor.string(), cursor.string(), cursor.int16(), cursor.int16(), cursor.tags()))
    cursor.array(lambda: (cursor.string(), cursor.int16(), cursor.int16(), cursor.tags()))
    cursor.string()  # rack
    return BrokerRegistrationFact(broker, epoch, fenced=cursor.boolean())


def _kraft_registration_change(cursor: Cursor, version: int) -> Fact | None:
    broker, _ = cursor.int32(), cursor.int64()
    fenced = cursor.tags().get(0)
    change = 0 if fenced is None else Cursor(fenced, flexible=True).int8()
    return None if change == 0 else BrokerFencingFact(broker, fenced=change > 0)


def _kraft_topic(cursor: Cursor, version: int) -> Fact:
    name = cursor.string()
    return TopicFact(cursor.uuid(), name or "")


def _kraft_partition(cursor: Cursor, version: int) -> Fact:
    partition, topic = cursor.int32(), cursor.uuid()
    replicas, isr, removing, adding = (tuple(cursor.array(cursor.int32)) for _ in range(4))
    leader, leader_epoch, version = cursor.int32(), cursor.int32(), cursor.int32()
    return PartitionFact(topic, partition, replicas, isr, leader, leader_epoch, version, removing, adding)


def _kraft_partition_change(cursor: Cursor, version: int) -> Fact:
    partition, topic, tags = cursor.int32(), cursor.uuid(), cursor.tags()
    leader = tags.get(1)
    return PartitionChangeFact(
        topic,
        partition,
        isr=_brokers(tags.get(0)),
        leader=None if leader is None else Cursor(leader, flexible=True).int32(),
        replicas=_brokers(tags.get(2)),
        removing=_brokers(tags.get(3)),
        adding=_brokers(tags.get(4)),
    )


def _brokers(tag: bytes | None) -> tuple[int, ...] | None:
    if tag is None:
        return None
    inside = Cursor(tag, flexible=True)
    return tuple(inside.array(inside.int32))


_KRAFT: Decoders = {
    0: _kraft_register,
    1: lambda cursor, version: BrokerRemovalFact(cursor.int32()),
    2: _kraft_topic,
    3: _kraft_partition,
    5: _kraft_partition_change,
    7: lambda cursor, version: BrokerFencingFact(cursor.int32(), fenced=True),
    8: lambda cursor, version: BrokerFencingFact(cursor.int32(), fenced=False),
    9: lambda cursor, version: TopicRemovalFact(cursor.uuid()),
    17: _kraft_registration_change,
}
