"""Kafka's znodes, decoded: who is registered, who is the controller, what is assigned and led.

The formats are Kafka's own, of releases 2.0 to 3.9; what is not of them is named, not guessed at.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.clients.metadata.image import Advertised, BrokerEntry, Image, PartitionEntry
from harness.clients.zookeeper.connection import Znode

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKERS = "/brokers/ids"
TOPICS = "/brokers/topics"
DELETIONS = "/admin/delete_topics"
WISHES = ("/admin/reassign_partitions", "/admin/preferred_replica_election")
"""Znodes that an administrator writes, and the controller takes away when it is done."""
NO_STATE = -1


class Strange(ValueError):
    """The content of a znode is not Kafka's."""


@dataclass(frozen=True)
class Claim:
    """The holder of /controller, the epoch that it took, and its session."""

    broker: int
    epoch: int
    owner: int = 0


@dataclass(frozen=True)
class Tree:
    """What was read at once. `image` has brokers as `active` where they are registered; who is listed is not known
    here. `whole`: nothing changed while it was read. `strange`: paths that hold what is not Kafka's."""

    zxid: int
    image: Image = field(default_factory=Image)
    claim: Claim | None = None
    pending: tuple[str, ...] = ()
    znodes: Mapping[str, Znode | None] = field(default_factory=dict)
    whole: bool = True
    strange: tuple[str, ...] = ()
    queues: Mapping[int, int] = field(default_factory=dict)
    """Where brokers have queues: how many requests wait in each, by broker."""


def decode_claim(controller: Znode | None, epoch: Znode | None) -> Claim | None:
    """None while nobody holds /controller, or its holder did not raise the epoch yet.

    Releases write both in one transaction; where two are used, the epoch that still stands is the predecessor's.
    """
    if controller is None or epoch is None or epoch.mzxid < controller.czxid:
        return None
    return Claim(integer(json_object(controller), "brokerid"), number(epoch.text), controller.owner)


def decode_broker(id: str, znode: Znode) -> BrokerEntry:
    fields = json_object(znode)
    protocols = fields.get("listener_security_protocol_map", {})
    endpoints = tuple(advertised(str(endpoint), protocols) for endpoint in fields.get("endpoints", ()))
    version = integer(fields, "version")
    return BrokerEntry(number(id), znode.czxid, "active", znode.mzxid, version, endpoints, znode.owner)


@dataclass(frozen=True)
class Topic:
    """Replicas by partition, the preferred leader first. Topics of older releases have no id."""

    name: str
    id: uuid.UUID | None
    assignment: Mapping[int, tuple[int, ...]]
    adding: Mapping[int, tuple[int, ...]]
    removing: Mapping[int, tuple[int, ...]]


def decode_topic(name: str, znode: Znode) -> Topic:
    fields = json_object(znode)
    id = fields.get("topic_id")
    return Topic(
        name,
        None if id is None else _uuid(str(id)),
        _replicas(fields, "partitions"),
        _replicas(fields, "adding_replicas"),
        _replicas(fields, "removing_replicas"),
    )


def decode_partition(topic: Topic, partition: int, state: Znode | None) -> PartitionEntry:
    """Without a state there is an assignment only: the partition is new, or its topic is going."""
    fields = {} if state is None else json_object(state)
    isr = fields.get("isr", [])
    if not isinstance(isr, list):
        raise Strange("isr")
    return PartitionEntry(
        topic=topic.name,
        partition=partition,
        replicas=topic.assignment[partition],
        isr=tuple(map(int, isr)),
        leader=integer(fields, "leader") if fields else -1,
        leader_epoch=integer(fields, "leader_epoch") if fields else -1,
        version=NO_STATE if state is None else state.version,
        offset=NO_STATE if state is None else state.mzxid,
        controller_epoch=integer(fields, "controller_epoch") if fields else -1,
        adding=topic.adding.get(partition, ()),
        removing=topic.removing.get(partition, ()),
    )


def advertised(endpoint: str, protocols: Mapping[str, str]) -> Advertised:
    """`INTERNAL://node-4:9090`, with what the registration says of the listener's security."""
    name, found, address = endpoint.partition("://")
    host, _, port = address.rpartition(":")
    if not found:
        raise Strange(endpoint)
    return Advertised(name, host, number(port), protocols.get(name, "PLAINTEXT"))


def json_object(znode: Znode) -> Mapping[str, Any]:
    try:
        fields = json.loads(znode.data)
    except ValueError:
        raise Strange("no JSON") from None
    if not isinstance(fields, dict):
        raise Strange("no object")
    return fields


def json_list(znode: Znode) -> tuple[int, ...]:
    """Broker ids in their order."""
    try:
        found = json.loads(znode.data)
        if isinstance(found, list):
            return tuple(map(int, found))
    except (TypeError, ValueError):
        pass
    raise Strange("no list of brokers")


def integer(fields: Mapping[str, Any], key: str) -> int:
    value = fields.get(key)
    if not isinstance(value, int):
        raise Strange(key)
    return value


def number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Strange(text) from None


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        raise Strange(text) from None


def _replicas(fields: Mapping[str, Any], key: str) -> dict[int, tuple[int, ...]]:
    found = fields.get(key) or {}
    try:
        return {int(partition): tuple(map(int, replicas)) for partition, replicas in found.items()}
    except (AttributeError, TypeError, ValueError):
        raise Strange(key) from None
