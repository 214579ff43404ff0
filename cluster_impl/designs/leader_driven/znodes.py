"""The znodes of this design: their paths, and the JSON in them ("Paths stored in Zookeeper").

The document gives paths and meaning; the JSON is ours. Reading is strict where a wrong guess would do harm: what is not
as it should be raises MalformedZnode, a sentence that names the path. Members that nobody here knows are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from cluster_impl.designs.on_zookeeper.document import Document, MalformedZnode
from cluster_impl.designs.on_zookeeper.znodes import to_json
from cluster_impl.replication.control_plane import Endpoint, TopicPartition

CLAIMS = "/brokers/claims"
BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
REASSIGNED = "/brokers/partitions_reassigned"
STATE = "/brokers/state"
ADMIN = "/brokers/admin"

ROOTS: Final[Sequence[str]] = ("/brokers", CLAIMS, BROKER_IDS, TOPICS, REASSIGNED, STATE, ADMIN, "/cluster")
"""Persistent znodes without data that everything else stands on, each after its parent."""

NO_EPOCH_YET = -1
"""In /leader: the replica has won, and takes its epoch next. In a request: it came from an admin command."""


def claim(broker_id: int) -> str:
    return f"{CLAIMS}/{broker_id}"


def broker(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    return f"{TOPICS}/{name}"


def partition(of: TopicPartition) -> str:
    """An empty znode, made by who adds the partition; no replica makes it, or it could come back after its end."""
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
    """Of the sequential znodes that are the queue."""
    return f"{STATE}/{broker_id}/request-"


def admin_lock(name: str) -> str:
    return f"{ADMIN}/{name}"


def partition_of_leader(path: str) -> TopicPartition | None:
    """The partition whose /leader this is; None for any other path."""
    match path.split("/"):
        case ["", "brokers", "topics", name, index, "leader"] if index.isdecimal():
            return TopicPartition(name, int(index))
    return None


def topic_id(name: str, czxid: int) -> UUID:
    """Of the topic whose znode this transaction created. Two of one name differ by the transaction; one transaction
    can create several topics, which differ by their names."""
    return UUID(bytes=sha256(name.encode()).digest()[:8] + czxid.to_bytes(8))


@dataclass(frozen=True, slots=True)
class Claim:
    """Who took a broker id, for the sentence that refuses another process."""

    pid: int
    host: str


@dataclass(frozen=True, slots=True)
class BrokerInfo:
    """What a broker registers; endpoints by listener name."""

    endpoints: Mapping[str, Endpoint]
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """The topic's own settings, not the defaults."""

    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leader:
    """`epoch` is NO_EPOCH_YET between the election and the taking of an epoch."""

    broker_id: int
    epoch: int

    @property
    def has_epoch(self) -> bool:
        return self.epoch != NO_EPOCH_YET


@dataclass(frozen=True, slots=True)
class InSync:
    """In-sync replicas and the epoch of the leader that wrote them. `version` is the znode's own (zkVersion).

    The epoch lives here since this znode is persistent: /leader goes with its session, and would forget it.
    """

    isr: tuple[int, ...]
    epoch: int
    version: int = 0


@dataclass(frozen=True, slots=True)
class QueueInfo:
    """`shrunk` grows each time that requests to start a replica were dropped from the queue."""

    shrunk: int = 0


def write_claim(of: Claim) -> bytes:
    return to_json({"pid": of.pid, "host": of.host})


def read_claim(broker_id: int, data: bytes) -> Claim:
    document = Document.parse(claim(broker_id), data)
    return Claim(document.number("pid"), document.text("host"))


def write_broker(info: BrokerInfo) -> bytes:
    endpoints = [f"{listener}://{at.host}:{at.port}" for listener, at in info.endpoints.items()]
    return to_json({"endpoints": endpoints, "timestamp": str(info.timestamp_ms)})


def read_broker(broker_id: int, data: bytes) -> BrokerInfo:
    document = Document.parse(broker(broker_id), data)
    endpoints = {}
    for text in document.texts("endpoints"):
        listener, separator, address = text.partition("://")
        host, colon, port = address.rpartition(":")
        if not (separator and colon and listener and host and port.isdecimal()):
            raise MalformedZnode(document.path, f"{text!r} is no endpoint of a listener")
        endpoints[listener] = Endpoint(host, int(port))
    return BrokerInfo(endpoints, document.number("timestamp", -1))


def write_topic(info: TopicInfo) -> bytes:
    return to_json({"config": dict(info.config)})


def read_topic(name: str, data: bytes) -> TopicInfo:
    config = Document.parse(topic(name), data).mapping("config", {})
    return TopicInfo({key: str(value) for key, value in config.items()})


def write_replicas(broker_ids: Sequence[int]) -> bytes:
    """Of /replicas and of /partitions_reassigned: a list of broker ids, the preferred one first."""
    return json.dumps(list(broker_ids), separators=(",", ":")).encode()


def read_replicas(of: TopicPartition, data: bytes) -> tuple[int, ...]:
    """The assigned replicas: at least one."""
    path = replicas(of)
    found = _broker_ids(path, data)
    if not found:
        raise MalformedZnode(path, "it names no replica")
    return found


def read_reassigned(of: TopicPartition, data: bytes) -> tuple[int, ...]:
    """The replicas that the partition shall have; none: it shall be deleted."""
    return _broker_ids(reassigned(of), data)


def write_leader(of: Leader) -> bytes:
    return to_json({"broker": of.broker_id, "epoch": of.epoch})


def read_leader(of: TopicPartition, data: bytes) -> Leader:
    document = Document.parse(leader(of), data)
    found = Leader(document.number("broker"), document.number("epoch"))
    if found.epoch < NO_EPOCH_YET:
        raise MalformedZnode(document.path, f"{found.epoch} is no epoch")
    return found


def write_isr(of: InSync) -> bytes:
    return to_json({"isr": of.isr, "epoch": of.epoch})


def read_isr(of: TopicPartition, data: bytes, version: int) -> InSync:
    document = Document.parse(isr(of), data)
    found = InSync(document.numbers("isr"), document.number("epoch"), version)
    if found.epoch < 0:
        raise MalformedZnode(document.path, f"{found.epoch} is no epoch")
    if len(set(found.isr)) != len(found.isr):
        raise MalformedZnode(document.path, f"{list(found.isr)} names a replica twice")
    return found


def write_queue(info: QueueInfo) -> bytes:
    return to_json({"shrunk": info.shrunk})


def read_queue(broker_id: int, data: bytes) -> QueueInfo:
    return QueueInfo(Document.parse(state(broker_id), data).number("shrunk", 0))


def _broker_ids(path: str, data: bytes) -> tuple[int, ...]:
    try:
        raw: Any = json.loads(data)
    except ValueError as error:
        raise MalformedZnode(path, f"it holds no JSON ({error})") from error
    if not isinstance(raw, list) or not all(type(each) is int and each >= 0 for each in raw):
        raise MalformedZnode(path, f"{raw!r} is no list of broker ids")
    if len(set(raw)) != len(raw):
        raise MalformedZnode(path, f"{raw} names a replica twice")
    return tuple(raw)
