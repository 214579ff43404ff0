"""The znodes of a cluster: their paths, and their JSON in the format of Apache Kafka 3.9.

Readers are strict where a wrong guess would do harm: they raise MalformedZnode with the path in its message. Unknown
members are ignored, as in Kafka, since newer software adds some.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import Document, MalformedZnode
from fencepost.cluster_impl.designs.on_zookeeper.znodes import read_uuid, to_json, write_uuid
from fencepost.cluster_impl.replication.control_plane import TopicPartition

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_REPLICA_ELECTION = "/admin/preferred_replica_election"
ISR_CHANGES = "/isr_change_notification"
LOG_DIR_EVENTS = "/log_dir_event_notification"

ISR_CHANGE_PREFIX = f"{ISR_CHANGES}/isr_change_"
LOG_DIR_EVENT_PREFIX = f"{LOG_DIR_EVENTS}/log_dir_event_"
"""Prefixes of sequential znodes."""

ROOTS: Final[Sequence[str]] = (
    "/admin",
    DELETE_TOPICS,
    "/brokers",
    BROKER_IDS,
    TOPICS,
    "/cluster",
    *config_znodes.ROOTS,
    ISR_CHANGES,
    LOG_DIR_EVENTS,
)
"""The persistent znodes without data that a cluster needs, each after its parent."""

LOG_DIR_FAILURE = 1
"""The only event of a log dir notification."""


def broker(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    return f"{TOPICS}/{name}"


def partitions(name: str) -> str:
    return f"{TOPICS}/{name}/partitions"


def partition(name: str, index: int) -> str:
    return f"{TOPICS}/{name}/partitions/{index}"


def state(of: TopicPartition) -> str:
    return f"{TOPICS}/{of.topic}/partitions/{of.partition}/state"


def topic_to_delete(name: str) -> str:
    return f"{DELETE_TOPICS}/{name}"


def partition_of_state(path: str) -> TopicPartition | None:
    """Return the partition whose state znode has this path; None for any other path."""
    match path.split("/"):
        case ["", "brokers", "topics", name, "partitions", index, "state"] if index.isdecimal():
            return TopicPartition(name, int(index))
    return None


def topic_of(path: str) -> str | None:
    """Return the topic whose znode has this path; None for any other path."""
    match path.split("/"):
        case ["", "brokers", "topics", name] if name:
            return name
    return None


@dataclass(frozen=True, slots=True)
class BrokerEndpoint:
    """`security_protocol` is the name, PLAINTEXT or SASL_PLAINTEXT."""

    listener: str
    host: str
    port: int
    security_protocol: str


@dataclass(frozen=True, slots=True)
class BrokerInfo:
    """The data of a registration. A broker of `version` 5 sends heartbeats, one of 4 does not (KIP-343)."""

    version: int
    endpoints: tuple[BrokerEndpoint, ...]
    timestamp_ms: int
    rack: str | None = None

    def endpoint(self, listener: str) -> BrokerEndpoint | None:
        return next((endpoint for endpoint in self.endpoints if endpoint.listener == listener), None)


@dataclass(frozen=True, slots=True)
class PartitionReplicas:
    """The replicas of one partition, in order of preference. During a reassignment `replicas` has the new and the old
    ones; `adding` and `removing` are the ones that are added and removed."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_reassigned(self) -> bool:
        return bool(self.adding or self.removing)

    @property
    def target(self) -> tuple[int, ...]:
        return tuple(replica for replica in self.replicas if replica not in self.removing)

    @property
    def origin(self) -> tuple[int, ...]:
        return tuple(replica for replica in self.replicas if replica not in self.adding)


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """The replicas of a topic. `topic_id` is None in a znode that was created by hand or by old software."""

    topic_id: UUID | None
    partitions: Mapping[int, PartitionReplicas]


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """The state of a partition, with the epoch of the controller that wrote it last.

    `leader` is NO_LEADER (-1) while no replica can lead. `version` is the znode's own (zkVersion), not of its data.
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    version: int = 0

    def says_the_same(self, other: LeaderAndIsr) -> bool:
        """Return whether the data is the same, at any versions."""
        return replace(self, version=0) == replace(other, version=0)


@dataclass(frozen=True, slots=True)
class LogDirEvent:
    """A notification of a broker about its log dirs."""

    broker_id: int
    event: int = LOG_DIR_FAILURE


def write_controller(broker_id: int, timestamp_ms: int) -> bytes:
    return to_json({"version": 2, "brokerid": broker_id, "timestamp": str(timestamp_ms), "kraftControllerEpoch": -1})


def read_controller(data: bytes) -> int:
    """Return the broker id of the active controller."""
    return Document.parse(CONTROLLER, data, 1, 2).number("brokerid")


def write_controller_epoch(epoch: int) -> bytes:
    return str(epoch).encode()


def read_controller_epoch(data: bytes) -> int:
    try:
        return int(data)
    except ValueError:
        raise MalformedZnode(CONTROLLER_EPOCH, f"{data!r} is no whole number") from None


_PROTOCOLS_FROM = 4
"""The first version of a registration that maps listeners to security protocols."""


def write_broker(info: BrokerInfo) -> bytes:
    """KIP-343: versions 4 and 5 have the same members. `host` and `port` repeat the first PLAINTEXT endpoint."""
    plain = next((endpoint for endpoint in info.endpoints if endpoint.security_protocol == "PLAINTEXT"), None)
    members: dict[str, Any] = {
        "version": info.version,
        "host": plain.host if plain else None,
        "port": plain.port if plain else -1,
        "jmx_port": -1,
        "timestamp": str(info.timestamp_ms),
        "endpoints": [f"{endpoint.listener}://{endpoint.host}:{endpoint.port}" for endpoint in info.endpoints],
        "listener_security_protocol_map": {
            endpoint.listener: endpoint.security_protocol for endpoint in info.endpoints
        },
    }
    if info.rack is not None:
        members["rack"] = info.rack
    return to_json(members)


def read_broker(broker_id: int, data: bytes) -> BrokerInfo:
    """Read a registration of any version: those before 4 are of brokers that are legacy as well (KIP-343).

    Version 1 has one address. Versions 2 and 3 have endpoints whose listeners are named after their security protocol.
    """
    document = Document.parse(broker(broker_id), data, 1, 2, 3, 4, 5)
    version = document.number("version")
    if version == 1:
        endpoints = [BrokerEndpoint("PLAINTEXT", document.text("host"), document.number("port"), "PLAINTEXT")]
    else:
        addresses = document.endpoints("endpoints")
        protocols: Mapping[str, Any] = {listener: listener for listener, _, _ in addresses}
        if version >= _PROTOCOLS_FROM:
            protocols = document.mapping("listener_security_protocol_map")
        for listener, _, _ in addresses:
            if listener not in protocols:
                raise MalformedZnode(document.path, f"its listener {listener!r} has no security protocol")
        endpoints = [
            BrokerEndpoint(listener, host, port, str(protocols[listener])) for listener, host, port in addresses
        ]
    rack = document.optional_text("rack")
    return BrokerInfo(version, tuple(endpoints), document.number("timestamp", -1), rack)


def write_topic(info: TopicInfo) -> bytes:
    members: dict[str, Any] = {
        "removing_replicas": {
            str(at): assigned.removing for at, assigned in info.partitions.items() if assigned.removing
        },
        "partitions": {str(at): assigned.replicas for at, assigned in info.partitions.items()},
        "topic_id": None if info.topic_id is None else write_uuid(info.topic_id),
        "adding_replicas": {str(at): assigned.adding for at, assigned in info.partitions.items() if assigned.adding},
        "version": 3,
    }
    if info.topic_id is None:
        del members["topic_id"]
    return to_json(members)


def read_topic(name: str, data: bytes) -> TopicInfo:
    document = Document.parse(topic(name), data, 1, 2, 3)
    assigned = document.by_partition("partitions")
    for index, replicas in assigned.items():
        if not replicas or len(set(replicas)) != len(replicas):
            raise MalformedZnode(document.path, f"partition {index} has the replicas {list(replicas)}")
    adding = document.by_partition("adding_replicas", {})
    removing = document.by_partition("removing_replicas", {})
    topic_id = read_uuid(document.path, document.text("topic_id")) if "topic_id" in document.members else None
    return TopicInfo(
        topic_id,
        {
            index: PartitionReplicas(replicas, adding.get(index, ()), removing.get(index, ()))
            for index, replicas in sorted(assigned.items())
        },
    )


def write_state(of: LeaderAndIsr) -> bytes:
    return (
        f'{{"controller_epoch":{of.controller_epoch},"leader":{of.leader},"version":1,'
        f'"leader_epoch":{of.leader_epoch},"isr":[{",".join(map(str, of.isr))}]}}'
    ).encode()


def read_state(of: TopicPartition, data: bytes, version: int) -> LeaderAndIsr:
    document = Document.parse(state(of), data, 1)
    return LeaderAndIsr(
        leader=document.number("leader"),
        leader_epoch=document.number("leader_epoch"),
        isr=document.numbers("isr"),
        controller_epoch=document.number("controller_epoch"),
        version=version,
    )


def write_partitions(which: Iterable[TopicPartition]) -> bytes:
    """Return the data of an ISR change notification, or of /admin/preferred_replica_election."""
    return to_json(
        {
            "version": 1,
            "partitions": [{"topic": partition.topic, "partition": partition.partition} for partition in which],
        }
    )


def read_partitions(path: str, data: bytes) -> list[TopicPartition]:
    return [entry.topic_partition() for entry in Document.parse(path, data, 1).documents("partitions")]


def write_reassignments(wanted: Mapping[TopicPartition, Sequence[int]]) -> bytes:
    entries = [
        {"topic": partition.topic, "partition": partition.partition, "replicas": list(replicas)}
        for partition, replicas in wanted.items()
    ]
    return to_json({"version": 1, "partitions": entries})


def read_reassignments(data: bytes) -> dict[TopicPartition, tuple[int, ...]]:
    document = Document.parse(REASSIGN_PARTITIONS, data, 1)
    return {entry.topic_partition(): entry.numbers("replicas") for entry in document.documents("partitions")}


def write_log_dir_event(event: LogDirEvent) -> bytes:
    return to_json({"version": 1, "broker": event.broker_id, "event": event.event})


def read_log_dir_events(path: str, data: bytes) -> list[LogDirEvent]:
    """Return the events of one notification, which holds one."""
    document = Document.parse(path, data, 1)
    return [LogDirEvent(document.number("broker"), document.number("event"))]
