"""Kafka's znodes, decoded: registered brokers, the controller, assignments and leaders.

The formats are Kafka's own, of releases 2.0 to 3.9; other content raises MalformedZnode.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.harness.clients.metadata.image import AdvertisedListener, BrokerEntry, Image, PartitionEntry
from fencepost.harness.clients.zookeeper.connection import Znode

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKERS = "/brokers/ids"
TOPICS = "/brokers/topics"
DELETIONS = "/admin/delete_topics"
ADMIN_REQUESTS = ("/admin/reassign_partitions", "/admin/preferred_replica_election")
"""Znodes that an administrator writes, and that the controller removes once the request is complete."""
NO_STATE = -1


class MalformedZnode(ValueError):
    """The content of a znode is not Kafka's."""


@dataclass(frozen=True)
class ControllerClaim:
    """The holder of /controller, the epoch that it took, and its session."""

    broker: int
    epoch: int
    owner: int = 0


@dataclass(frozen=True)
class Tree:
    """The result of one read. In `image` registered brokers are `active`; the list of the controller is not part of it.

    `whole`: nothing changed during the read. `malformed`: paths whose content is not in Kafka's format.
    """

    zxid: int
    image: Image = field(default_factory=Image)
    claim: ControllerClaim | None = None
    pending: tuple[str, ...] = ()
    znodes: Mapping[str, Znode | None] = field(default_factory=dict)
    whole: bool = True
    malformed: tuple[str, ...] = ()
    queues: Mapping[int, int] = field(default_factory=dict)
    """The number of waiting requests by broker, in clusters whose brokers have queues."""


def decode_claim(controller: Znode | None, epoch: Znode | None) -> ControllerClaim | None:
    """Return the claim; None without /controller, or while its holder has not raised the epoch yet.

    Releases write both in one transaction; where two are used, the epoch that still stands is the predecessor's.
    """
    if controller is None or epoch is None or epoch.mzxid < controller.czxid:
        return None
    return ControllerClaim(integer(json_object(controller), "brokerid"), number(epoch.text), controller.owner)


def decode_broker(id: str, znode: Znode) -> BrokerEntry:
    fields = json_object(znode)
    protocols = fields.get("listener_security_protocol_map", {})
    endpoints = tuple(advertised(str(endpoint), protocols) for endpoint in fields.get("endpoints", ()))
    version = integer(fields, "version")
    return BrokerEntry(number(id), znode.czxid, "active", znode.mzxid, version, endpoints, znode.owner)


@dataclass(frozen=True)
class TopicAssignment:
    """Replicas by partition, the preferred leader first. Topics of older releases have no id."""

    name: str
    id: uuid.UUID | None
    assignment: Mapping[int, tuple[int, ...]]
    adding: Mapping[int, tuple[int, ...]]
    removing: Mapping[int, tuple[int, ...]]


def decode_topic(name: str, znode: Znode) -> TopicAssignment:
    fields = json_object(znode)
    id = fields.get("topic_id")
    return TopicAssignment(
        name,
        None if id is None else _uuid(str(id)),
        _replicas(fields, "partitions"),
        _replicas(fields, "adding_replicas"),
        _replicas(fields, "removing_replicas"),
    )


def decode_partition(topic: TopicAssignment, partition: int, state: Znode | None) -> PartitionEntry:
    """Decode one partition. Without a state it is new, or its topic is being deleted."""
    fields = {} if state is None else json_object(state)
    isr = fields.get("isr", [])
    if not isinstance(isr, list):
        raise MalformedZnode("isr")
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


def advertised(endpoint: str, protocols: Mapping[str, str]) -> AdvertisedListener:
    """`INTERNAL://node-4:9090`, with what the registration says of the listener's security."""
    name, found, address = endpoint.partition("://")
    host, _, port = address.rpartition(":")
    if not found:
        raise MalformedZnode(endpoint)
    return AdvertisedListener(name, host, number(port), protocols.get(name, "PLAINTEXT"))


def json_object(znode: Znode) -> Mapping[str, Any]:
    try:
        fields = json.loads(znode.data)
    except ValueError:
        raise MalformedZnode("no JSON") from None
    if not isinstance(fields, dict):
        raise MalformedZnode("no object")
    return fields


def json_list(znode: Znode) -> tuple[int, ...]:
    """Broker ids in their order."""
    try:
        found = json.loads(znode.data)
        if isinstance(found, list):
            return tuple(map(int, found))
    except (TypeError, ValueError):
        pass
    raise MalformedZnode("no list of brokers")


def integer(fields: Mapping[str, Any], key: str) -> int:
    value = fields.get(key)
    if not isinstance(value, int):
        raise MalformedZnode(key)
    return value


def number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise MalformedZnode(text) from None


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        raise MalformedZnode(text) from None


def _replicas(fields: Mapping[str, Any], key: str) -> dict[int, tuple[int, ...]]:
    found = fields.get(key) or {}
    try:
        return {int(partition): tuple(map(int, replicas)) for partition, replicas in found.items()}
    except (AttributeError, TypeError, ValueError):
        raise MalformedZnode(key) from None
