"""Reads for administrative commands, in few large batches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from fencepost.cluster_impl.coordination.steps import Absent, Exists, Found, Get, Present, Stat, Steps, names, read, run
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState, Leader
from fencepost.cluster_impl.replication.control_plane import TopicPartition


@dataclass(frozen=True, slots=True)
class Marker:
    """The entry of a partition in /partitions_reassigned and its version; no replicas mean that it is being deleted."""

    replicas: tuple[int, ...]
    version: int


@dataclass(frozen=True, slots=True)
class StoredPartition:
    """A partition in ZooKeeper. `replicas` is None during its creation and after an interrupted deletion."""

    index: int
    replicas: tuple[int, ...] | None
    marker: Marker | None

    @property
    def named(self) -> frozenset[int]:
        """Brokers that may hold a replica."""
        return frozenset(self.replicas or ()) | frozenset(self.marker.replicas if self.marker else ())

    @property
    def is_being_deleted(self) -> bool:
        return self.marker is not None and not self.marker.replicas


@dataclass(frozen=True, slots=True)
class StoredTopic:
    """A topic in ZooKeeper. `topic_id` is None if only /partitions_reassigned still knows it."""

    name: str
    topic_id: UUID | None
    config: Mapping[str, str]
    partitions: Mapping[int, StoredPartition]

    @property
    def live(self) -> dict[int, StoredPartition]:
        """The partitions that have replicas, by index."""
        return {index: partition for index, partition in self.partitions.items() if partition.replicas is not None}


def live_brokers() -> Steps[list[int]]:
    return numbers((yield from names(znodes.BROKER_IDS)))


def running_brokers() -> Steps[set[int]]:
    """Return the ids that are claimed or registered.

    A broker that starts takes its requests, and can lead, before it is registered.
    """
    claimed = numbers((yield from names(znodes.CLAIMS)))
    return {*claimed, *(yield from live_brokers())}


def numbers(among: Collection[str]) -> list[int]:
    """Return the names that are whole numbers, sorted."""
    return sorted(int(name) for name in among if name.isdecimal())


def topic_names() -> Steps[list[str]]:
    return (yield from names(znodes.TOPICS))


def topics_by_id() -> Steps[dict[UUID, str]]:
    listed = yield from topic_names()
    outcomes = yield from run([Exists(znodes.topic(name)) for name in listed])
    return {
        znodes.topic_id(name, outcome.stat.czxid): name
        for name, outcome in zip(listed, outcomes, strict=True)
        if isinstance(outcome, Present)
    }


def read_topic(name: str) -> Steps[StoredTopic]:
    """Read everything that is there of a topic. Raises MalformedZnode."""
    found = yield from read(znodes.topic(name))
    topic_id = znodes.topic_id(name, found.stat.czxid) if isinstance(found, Found) else None
    config = znodes.read_topic(name, found.data).config if isinstance(found, Found) else {}
    listed = numbers((yield from names(znodes.topic(name))))
    marked = numbers((yield from names(znodes.reassigned_topic(name))))
    partitions = yield from read_partitions(name, sorted({*listed, *marked}))
    return StoredTopic(name, topic_id, config, partitions)


def read_partitions(topic: str, indexes: Collection[int]) -> Steps[dict[int, StoredPartition]]:
    """Read each of these partitions, also absent ones. Raises MalformedZnode."""
    which = [TopicPartition(topic, index) for index in indexes]
    outcomes = yield from run(
        [Get(path) for partition in which for path in (znodes.replicas(partition), znodes.reassigned(partition))]
    )
    partitions = {}
    for at, partition in enumerate(which):
        replicas, marker = outcomes[2 * at], outcomes[2 * at + 1]
        partitions[partition.partition] = StoredPartition(
            partition.partition,
            znodes.read_replicas(partition, replicas.data) if isinstance(replicas, Found) else None,
            Marker(znodes.read_reassigned(partition, marker.data), marker.stat.version)
            if isinstance(marker, Found)
            else None,
        )
    return partitions


@dataclass(frozen=True, slots=True)
class PartitionLeadership:
    """The leader and the ISR of a partition; None where the znode is absent."""

    leader: Leader | None
    in_sync: IsrState | None

    @property
    def serves(self) -> bool:
        """True if the leader has its epoch and has written its ISR."""
        return (
            self.leader is not None
            and self.in_sync is not None
            and self.leader.epoch == self.in_sync.epoch
            and bool(self.in_sync.isr)
        )


def read_leaderships(topic: str, indexes: Collection[int]) -> Steps[dict[int, PartitionLeadership]]:
    """Read the leader and the ISR of each of these partitions. Raises MalformedZnode."""
    which = [TopicPartition(topic, index) for index in indexes]
    outcomes = yield from run(
        [Get(path) for partition in which for path in (znodes.leader(partition), znodes.isr(partition))]
    )
    leaderships = {}
    for at, partition in enumerate(which):
        leader, isr = outcomes[2 * at], outcomes[2 * at + 1]
        leaderships[partition.partition] = PartitionLeadership(
            znodes.read_leader(partition, leader.data) if isinstance(leader, Found) else None,
            znodes.read_isr(partition, isr.data, isr.stat.version) if isinstance(isr, Found) else None,
        )
    return leaderships


def stat_of(path: str) -> Steps[Stat | None]:
    """Return the stat of a znode, or None if it is absent."""
    [outcome] = yield [Exists(path)]
    assert isinstance(outcome, Present | Absent)
    return outcome.stat if isinstance(outcome, Present) else None
