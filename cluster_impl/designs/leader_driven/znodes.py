"""The znodes of this design: their paths, and the JSON in them ("Paths stored in Zookeeper").

The document defines the paths and their meaning; the JSON is defined here. Reading is strict where a wrong guess would
do harm: malformed data raises MalformedZnode, whose message names the path. Unknown JSON members are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from fencepost.cluster_impl.designs.on_zookeeper.config_znodes import BROKER_CONFIGS, CONFIG_CHANGES
from fencepost.cluster_impl.designs.on_zookeeper.document import Document, MalformedZnode
from fencepost.cluster_impl.designs.on_zookeeper.znodes import to_json
from fencepost.cluster_impl.replication.control_plane import Endpoint, TopicPartition

CLAIMS = "/brokers/claims"
BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
REASSIGNED = "/brokers/partitions_reassigned"
STATE = "/brokers/state"
ADMIN = "/brokers/admin"

ROOTS: Final[Sequence[str]] = (
    "/brokers",
    CLAIMS,
    BROKER_IDS,
    TOPICS,
    REASSIGNED,
    STATE,
    ADMIN,
    "/cluster",
    "/config",
    BROKER_CONFIGS,
    CONFIG_CHANGES,
)
"""Persistent znodes without data that the other paths need, each after its parent."""

NO_EPOCH_YET = -1
"""In /leader: the replica has won and is about to take its epoch. In a request: an admin command made it."""


def claim(broker_id: int) -> str:
    return f"{CLAIMS}/{broker_id}"


def broker(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    return f"{TOPICS}/{name}"


def partition(of: TopicPartition) -> str:
    """Return the path of an empty znode that only the command which adds the partition creates.

    Replicas never create it; otherwise they could bring a deleted partition back.
    """
    return f"{TOPICS}/{of.topic}/{of.partition}"


def replicas(of: TopicPartition) -> str:
    return f"{TOPICS}/{of.topic}/{of.partition}/replicas"


def leader(of: TopicPartition) -> str:
    return f"{TOPICS}/{of.topic}/{of.partition}/leader"


def isr(of: TopicPartition) -> str:
    return f"{TOPICS}/{of.topic}/{of.partition}/ISR"


def reassigned_topic(name: str) -> str:
    return f"{REASSIGNED}/{name}"


def reassigned(of: TopicPartition) -> str:
    return f"{REASSIGNED}/{of.topic}/{of.partition}"


def state(broker_id: int) -> str:
    return f"{STATE}/{broker_id}"


def request(broker_id: int, name: str) -> str:
    return f"{STATE}/{broker_id}/{name}"


def request_prefix(broker_id: int) -> str:
    """Return the path prefix of the sequential znodes that form the queue."""
    return f"{STATE}/{broker_id}/request-"


def admin_lock(name: str) -> str:
    return f"{ADMIN}/{name}"


def partition_of_leader(path: str) -> TopicPartition | None:
    """Return the partition whose /leader this path is; None for any other path."""
    match path.split("/"):
        case ["", "brokers", "topics", name, index, "leader"] if index.isdecimal():
            return TopicPartition(name, int(index))
    return None


def topic_id(name: str, czxid: int) -> UUID:
    """Return the id of the topic whose znode was created by transaction `czxid`.

    Two topics of one name differ by the transaction. One transaction can create several topics; these differ by name.
    """
    return UUID(bytes=sha256(name.encode()).digest()[:8] + czxid.to_bytes(8))


@dataclass(frozen=True, slots=True)
class ClaimZnode:
    """The process that claimed a broker id, for the message that refuses another process."""

    pid: int
    host: str


@dataclass(frozen=True, slots=True)
class BrokerZnode:
    """A broker's registration; endpoints by listener name."""

    endpoints: Mapping[str, Endpoint]
    timestamp_ms: int
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class TopicZnode:
    """A topic's own settings, without defaults."""

    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leader:
    """The leader of a partition. `epoch` is NO_EPOCH_YET between the election and the taking of an epoch."""

    broker_id: int
    epoch: int

    @property
    def has_epoch(self) -> bool:
        """True once the leader has taken its epoch."""
        return self.epoch != NO_EPOCH_YET


@dataclass(frozen=True, slots=True)
class IsrState:
    """The in-sync replicas and the epoch of the leader that wrote them. `version` is the znode's (zkVersion).

    The epoch is stored here because this znode is persistent: /leader goes with its session.
    """

    isr: tuple[int, ...]
    epoch: int
    version: int = 0


@dataclass(frozen=True, slots=True)
class QueueZnode:
    """`shrunk` grows each time that requests to start a replica were dropped from the queue."""

    shrunk: int = 0


def write_claim(of: ClaimZnode) -> bytes:
    return to_json({"pid": of.pid, "host": of.host})


def read_claim(broker_id: int, data: bytes) -> ClaimZnode:
    """Return the claim of a broker id. Raises MalformedZnode."""
    document = Document.parse(claim(broker_id), data)
    return ClaimZnode(document.number("pid"), document.text("host"))


def write_broker(info: BrokerZnode) -> bytes:
    endpoints = [f"{listener}://{at.host}:{at.port}" for listener, at in info.endpoints.items()]
    members: dict[str, object] = {"endpoints": endpoints, "timestamp": str(info.timestamp_ms)}
    if info.rack is not None:
        members["rack"] = info.rack
    return to_json(members)


def read_broker(broker_id: int, data: bytes) -> BrokerZnode:
    """Return a broker's registration. Raises MalformedZnode."""
    document = Document.parse(broker(broker_id), data)
    endpoints = {listener: Endpoint(host, port) for listener, host, port in document.endpoints("endpoints")}
    if not all(listener and endpoint.host for listener, endpoint in endpoints.items()):
        raise MalformedZnode(document.path, "an endpoint has no listener or no host")
    return BrokerZnode(endpoints, document.number("timestamp", -1), document.optional_text("rack"))


def write_topic(info: TopicZnode) -> bytes:
    return to_json({"config": dict(info.config)})


def read_topic(name: str, data: bytes) -> TopicZnode:
    """Return a topic's settings. Raises MalformedZnode."""
    config = Document.parse(topic(name), data).mapping("config", {})
    return TopicZnode({key: str(value) for key, value in config.items()})


def write_replicas(broker_ids: Sequence[int]) -> bytes:
    """Return the data of /replicas or /partitions_reassigned: a JSON list of broker ids, the preferred one first."""
    return json.dumps(list(broker_ids), separators=(",", ":")).encode()


def read_replicas(of: TopicPartition, data: bytes) -> tuple[int, ...]:
    """Return the assigned replicas, at least one. Raises MalformedZnode."""
    path = replicas(of)
    found = _broker_ids(path, data)
    if not found:
        raise MalformedZnode(path, "it names no replica; at least one is needed")
    return found


def read_reassigned(of: TopicPartition, data: bytes) -> tuple[int, ...]:
    """Return the target replicas; empty if the partition is to be deleted. Raises MalformedZnode."""
    return _broker_ids(reassigned(of), data)


def write_leader(of: Leader) -> bytes:
    return to_json({"broker": of.broker_id, "epoch": of.epoch})


def read_leader(of: TopicPartition, data: bytes) -> Leader:
    """Return the leader of a partition. Raises MalformedZnode."""
    document = Document.parse(leader(of), data)
    found = Leader(document.number("broker"), document.number("epoch"))
    if found.epoch < NO_EPOCH_YET:
        raise MalformedZnode(document.path, f"{found.epoch} is not an epoch")
    return found


def write_isr(of: IsrState) -> bytes:
    return to_json({"isr": of.isr, "epoch": of.epoch})


def read_isr(of: TopicPartition, data: bytes, version: int) -> IsrState:
    """Return the ISR of a partition; `version` is the znode's. Raises MalformedZnode."""
    document = Document.parse(isr(of), data)
    found = IsrState(document.numbers("isr"), document.number("epoch"), version)
    if found.epoch < 0:
        raise MalformedZnode(document.path, f"{found.epoch} is not an epoch")
    if len(set(found.isr)) != len(found.isr):
        raise MalformedZnode(document.path, f"{list(found.isr)} names a replica twice")
    return found


def write_queue(info: QueueZnode) -> bytes:
    return to_json({"shrunk": info.shrunk})


def read_queue(broker_id: int, data: bytes) -> QueueZnode:
    """Return the counter of a broker's queue. Raises MalformedZnode."""
    return QueueZnode(Document.parse(state(broker_id), data).number("shrunk", 0))


def _broker_ids(path: str, data: bytes) -> tuple[int, ...]:
    try:
        raw: Any = json.loads(data)
    except ValueError as error:
        raise MalformedZnode(path, f"it is not JSON ({error})") from error
    if not isinstance(raw, list) or not all(type(broker_id) is int and broker_id >= 0 for broker_id in raw):
        raise MalformedZnode(path, f"{raw!r} is not a list of broker ids")
    if len(set(raw)) != len(raw):
        raise MalformedZnode(path, f"{raw} names a replica twice")
    return tuple(raw)
