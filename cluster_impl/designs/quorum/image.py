"""The metadata image: the state that the committed records of `__kafka_metadata` add up to.

Controllers and brokers hold the same image, and only `replay` changes it (KIP-631, The Metadata Topic). An active
controller holds a second image, a copy that also has its uncommitted records (KIP-631, Persistence and Visibility). The
values are frozen, so a copy shares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import assert_never
from uuid import UUID

from fencepost.cluster_impl.designs.quorum.features import Support, check_readable, support_of
from fencepost.cluster_impl.security.entries import AccessControlEntry
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import unsigned16

MetadataRecord = (
    m.BrokerRecord
    | m.TopicRecord
    | m.PartitionRecord
    | m.ConfigRecord
    | m.IsrChangeRecord
    | m.DeleteBrokerRecord
    | m.DeleteTopicRecord
    | m.HistoryRecord
    | m.FeatureLevelRecord
    | m.AccessControlRecord
    | m.DeleteAccessControlRecord
)

NO_LEADER = -1
NO_EPOCH = -1
TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
"""Kafka's numbers of the resource types in ConfigRecord and DescribeConfigs."""
ALL_BROKERS = ""
"""The resource whose settings are those of every broker."""


@dataclass(frozen=True, slots=True)
class NamedEndpoint:
    """The address of one listener of a broker."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """A broker that holds its id. `epoch` is the offset of the record that granted it, and so unique.

    `since` is the epoch at which its process took the id: a new epoch without a DeleteBroker in between was granted to
    the same process.
    """

    id: int
    epoch: int
    since: int
    endpoints: tuple[NamedEndpoint, ...]
    rack: str | None = None
    features: Support = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicImage:
    """A topic by name and id. One that is being deleted is served by no broker and changed by no request."""

    name: str
    id: UUID
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class PartitionRegistration:
    """The state of a partition.

    `leader_epoch` grows with each change of leader or ISR; `leader_term_epoch` is the one at which the present leader
    began to lead (decision: LeaderEpoch grows with each ISR change).

    `joined` maps each ISR member to the `since` of the process that joined the ISR, or was elected, last under that id:
    the process that is known to have every record.

    `adding` and `removing` are the replicas that a reassignment under way adds and removes.
    """

    topic_id: UUID
    index: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    leader_term_epoch: int
    joined: Mapping[int, int]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_reassigned(self) -> bool:
        return bool(self.adding or self.removing)


@dataclass(slots=True)
class MetadataImage:
    """`offset` is that of the last replayed record, -1 before the first. `partitions_created` only grows.

    `deleted_leader_epoch` is the highest leader epoch of all partitions that were deleted, -1 if none was.
    """

    brokers: dict[int, BrokerRegistration] = field(default_factory=dict)
    topics: dict[str, TopicImage] = field(default_factory=dict)
    deleting: set[UUID] = field(default_factory=set)
    """The topics whose deletion has begun and is not complete."""
    topic_names: dict[UUID, str] = field(default_factory=dict)
    partitions: dict[UUID, dict[int, PartitionRegistration]] = field(default_factory=dict)
    topic_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    broker_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Settings by broker id as text, or by ALL_BROKERS."""
    reassigned: dict[tuple[UUID, int], None] = field(default_factory=dict)
    """The partitions with a reassignment under way, by topic id and index."""
    acls: Mapping[AccessControlEntry, None] = field(default_factory=dict)
    """An ordered set, which is replaced by each change."""
    features: dict[str, int] = field(default_factory=dict)
    """The level of each feature; 1 where absent."""
    deleted_leader_epoch: int = NO_EPOCH
    partitions_created: int = 0
    offset: int = -1

    def copy(self) -> MetadataImage:
        """Return an image that changes independently of this one."""
        return MetadataImage(
            brokers=dict(self.brokers),
            topics=dict(self.topics),
            deleting=set(self.deleting),
            topic_names=dict(self.topic_names),
            partitions={topic_id: dict(partitions) for topic_id, partitions in self.partitions.items()},
            topic_configs={name: dict(config) for name, config in self.topic_configs.items()},
            broker_configs={name: dict(config) for name, config in self.broker_configs.items()},
            reassigned=dict(self.reassigned),
            acls=self.acls,
            features=dict(self.features),
            deleted_leader_epoch=self.deleted_leader_epoch,
            partitions_created=self.partitions_created,
            offset=self.offset,
        )

    def all_partitions(self) -> Iterator[PartitionRegistration]:
        """Iterate over the partitions of all topics."""
        for partitions in self.partitions.values():
            yield from partitions.values()

    def partition(self, topic: str, index: int) -> PartitionRegistration | None:
        """Return the partition, or None if it does not exist or its topic is being deleted."""
        known = self.topics.get(topic)
        return None if known is None or known.deleting else self.partitions[known.id].get(index)

    def config_of(self, topic: str) -> Mapping[str, str]:
        """Return the topic's own settings."""
        return self.topic_configs.get(topic, {})

    def broker_config_of(self, broker_id: int) -> Mapping[str, str]:
        """Return the settings of a broker that were changed at run time: its own, else those of all brokers."""
        return {**self.broker_configs.get(ALL_BROKERS, {}), **self.broker_configs.get(str(broker_id), {})}

    def settings_of(self, resource_type: int, name: str) -> Mapping[str, str]:
        """Return the settings of a topic or broker that are in records."""
        return (self.topic_configs if resource_type == TOPIC_RESOURCE else self.broker_configs).get(name, {})

    def level_of(self, feature: str) -> int:
        """Return the level of a feature."""
        return self.features.get(feature, 1)

    def first_leader_epoch(self) -> int:
        """Return the first leader epoch of a new topic: above every epoch of an earlier topic of its name.

        Brokers identify a topic by its name in ISR changes. A late request for the earlier topic must find its version
        stale. One number for all names keeps the image, and so a snapshot, as small as what it describes (decision
        0053).
        """
        return self.deleted_leader_epoch + 1

    def load(self, records: Iterable[MetadataRecord], end_offset: int) -> None:
        """Replace the whole state by that of a snapshot, whose last record in the log stands before `end_offset`."""
        fresh = MetadataImage()
        for record in records:
            fresh.replay(record, end_offset - 1)
        for part in fields(fresh):
            setattr(self, part.name, getattr(fresh, part.name))
        self.offset = end_offset - 1

    def replay(self, record: MetadataRecord, offset: int) -> None:
        """Apply the record that stands at `offset` in the metadata log. Raises Malformed for an unknown level."""
        match record:
            case m.BrokerRecord():
                self._register(record)
            case m.DeleteBrokerRecord():
                self.brokers.pop(record.id, None)
            case m.TopicRecord():
                self.topics[record.name] = TopicImage(record.name, record.topic_id, record.deleting)
                self.topic_names[record.topic_id] = record.name
                self.partitions.setdefault(record.topic_id, {})
                if record.deleting:
                    self.deleting.add(record.topic_id)
            case m.PartitionRecord():
                self._set_partition(record)
            case m.IsrChangeRecord():
                self._change_isr(record)
            case m.ConfigRecord():
                self._configure(record)
            case m.DeleteTopicRecord():
                self._delete_topic(record.name)
            case m.AccessControlRecord():
                self.acls = {**self.acls, _entry(record): None}
            case m.DeleteAccessControlRecord():
                gone = _entry(record)
                self.acls = {entry: None for entry in self.acls if entry != gone}
            case m.FeatureLevelRecord():
                check_readable(record.name, record.level)
                self.features[record.name] = record.level
            case m.HistoryRecord():
                self.partitions_created = record.partitions_created
                self.deleted_leader_epoch = record.deleted_leader_epoch
            case _:
                assert_never(record)
        self.offset = offset

    def _configure(self, record: m.ConfigRecord) -> None:
        """Change one setting. One without a value is removed (decision D631-31)."""
        resources = {TOPIC_RESOURCE: self.topic_configs, BROKER_RESOURCE: self.broker_configs}
        if (of_type := resources.get(record.resource_type)) is None:
            return
        settings = of_type.setdefault(record.resource_name, {})
        if record.value is None:
            settings.pop(record.name, None)
        else:
            settings[record.name] = record.value
        if not settings:
            del of_type[record.resource_name]

    def _delete_topic(self, topic_id: UUID) -> None:
        name = self.topic_names.pop(topic_id)
        del self.topics[name]
        self.deleting.discard(topic_id)
        partitions = self.partitions.pop(topic_id).values()
        self.deleted_leader_epoch = max(
            (self.deleted_leader_epoch, *(partition.leader_epoch for partition in partitions))
        )
        for partition in partitions:
            self.reassigned.pop((topic_id, partition.index), None)
        self.topic_configs.pop(name, None)

    def _register(self, record: m.BrokerRecord) -> None:
        endpoints = tuple(
            NamedEndpoint(e.name, e.host, unsigned16(e.port), e.security_protocol) for e in record.end_points
        )
        holder = self.brokers.get(record.broker_id)
        derived = record.broker_epoch if holder is None else holder.since
        since = derived if record.since == NO_EPOCH else record.since
        self.brokers[record.broker_id] = BrokerRegistration(
            record.broker_id, record.broker_epoch, since, endpoints, record.rack, support_of(record.features)
        )

    def _set_partition(self, record: m.PartitionRecord) -> None:
        partitions = self.partitions[record.topic_id]
        known = partitions.get(record.partition_id)
        if known is None:
            self.partitions_created += 1
        partitions[record.partition_id] = PartitionRegistration(
            record.topic_id,
            record.partition_id,
            tuple(record.replicas),
            tuple(record.isr),
            record.leader,
            record.leader_epoch,
            _leader_term(known, record.leader, record.leader_epoch)
            if record.leader_term_epoch == NO_EPOCH
            else record.leader_term_epoch,
            dict(zip(record.isr, record.joined, strict=True))
            if len(record.joined) == len(record.isr)
            else self._joined(known, record.isr, record.leader),
            tuple(record.adding_replicas),
            tuple(record.removing_replicas),
        )
        if partitions[record.partition_id].is_reassigned:
            self.reassigned[record.topic_id, record.partition_id] = None
        else:
            self.reassigned.pop((record.topic_id, record.partition_id), None)

    def _change_isr(self, record: m.IsrChangeRecord) -> None:
        partitions = self.partitions[record.topic_id]
        known = partitions[record.partition_id]
        partitions[record.partition_id] = replace(
            known,
            isr=tuple(record.isr),
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            leader_term_epoch=_leader_term(known, record.leader, record.leader_epoch),
            joined=self._joined(known, record.isr, record.leader),
        )

    def _joined(self, earlier: PartitionRegistration | None, isr: Sequence[int], leader: int) -> Mapping[int, int]:
        joined = {} if earlier is None else {member: earlier.joined[member] for member in earlier.isr if member in isr}
        elected = earlier is None or leader != earlier.leader
        for member in isr:
            if member in self.brokers and (member not in joined or (elected and member == leader)):
                joined[member] = self.brokers[member].since
        return {member: joined.get(member, NO_EPOCH) for member in isr}


def _entry(record: m.AccessControlRecord | m.DeleteAccessControlRecord) -> AccessControlEntry:
    return AccessControlEntry(
        record.resource_type,
        record.resource_name or "",
        record.pattern_type,
        record.principal,
        record.host,
        record.operation,
        record.permission_type,
    )


def _leader_term(earlier: PartitionRegistration | None, leader: int, leader_epoch: int) -> int:
    return earlier.leader_term_epoch if earlier is not None and earlier.leader == leader else leader_epoch
