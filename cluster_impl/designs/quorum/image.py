"""The metadata image: what the committed records of `__kafka_metadata` amount to.

Controllers and brokers hold the same image; `replay` is the only thing that changes it (KIP-631, The Metadata Topic).
An active controller holds a second one, a copy that also has its uncommitted records (KIP-631, Persistence and
Visibility). Values are frozen, so that a copy shares them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never
from uuid import UUID

from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import unsigned16

MetadataRecord = (
    m.BrokerRecord
    | m.TopicRecord
    | m.PartitionRecord
    | m.ConfigRecord
    | m.IsrChangeRecord
    | m.DeleteBrokerRecord
    | m.DeleteTopicRecord
)

NO_LEADER = -1
NO_EPOCH = -1
TOPIC_RESOURCE = 2
"""Kafka's number of the resource type `topic` in ConfigRecord and DescribeConfigs."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that holds its id; `epoch` is the offset of the record that granted it, so no two grants share one.

    `since` is the epoch at which its process took the id: a new epoch that follows without a DeleteBroker in between
    was granted to the same process.
    """

    id: int
    epoch: int
    since: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    id: UUID
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class Partition:
    """`leader_epoch` grows with each change of leader or ISR; `tenure_epoch` is the one at which the present leader
    began to lead (decision: LeaderEpoch grows with each ISR change).

    `joined` has for each member of the ISR the `since` of the process that is known to have everything: the one that
    came in, or was elected, under that id last.
    """

    topic_id: UUID
    index: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    tenure_epoch: int
    joined: Mapping[int, int]


@dataclass(slots=True)
class MetadataImage:
    """`offset` is that of the record replayed last, -1 before the first; `partitions_created` only ever grows.

    `deleted` has, for each name that a topic was deleted under, the highest leader epoch of its partitions.
    """

    brokers: dict[int, Broker] = field(default_factory=dict)
    topics: dict[str, Topic] = field(default_factory=dict)
    topic_names: dict[UUID, str] = field(default_factory=dict)
    partitions: dict[UUID, dict[int, Partition]] = field(default_factory=dict)
    topic_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    partitions_created: int = 0
    offset: int = -1

    def copy(self) -> MetadataImage:
        """An image that changes independently of this one."""
        return MetadataImage(
            brokers=dict(self.brokers),
            topics=dict(self.topics),
            topic_names=dict(self.topic_names),
            partitions={topic_id: dict(partitions) for topic_id, partitions in self.partitions.items()},
            topic_configs={name: dict(config) for name, config in self.topic_configs.items()},
            deleted=dict(self.deleted),
            partitions_created=self.partitions_created,
            offset=self.offset,
        )

    def all_partitions(self) -> Iterator[Partition]:
        for partitions in self.partitions.values():
            yield from partitions.values()

    def partition(self, topic: str, index: int) -> Partition | None:
        known = self.topics.get(topic)
        return None if known is None else self.partitions[known.id].get(index)

    def config_of(self, topic: str) -> Mapping[str, str]:
        return self.topic_configs.get(topic, {})

    def first_leader_epoch(self, topic: str) -> int:
        """Where a new topic begins: above every epoch of an earlier one of its name.

        Brokers name a topic by its name when they ask for an ISR change. What was asked for the earlier topic and comes
        late must find its version gone.
        """
        return self.deleted.get(topic, NO_EPOCH) + 1

    def replay(self, record: MetadataRecord, offset: int) -> None:
        """Apply the record that stands at `offset` in the metadata log."""
        match record:
            case m.BrokerRecord():
                self._register(record)
            case m.DeleteBrokerRecord():
                self.brokers.pop(record.id, None)
            case m.TopicRecord():
                self.topics[record.name] = Topic(record.name, record.topic_id, record.deleting)
                self.topic_names[record.topic_id] = record.name
                self.partitions.setdefault(record.topic_id, {})
            case m.PartitionRecord():
                self._set_partition(record)
            case m.IsrChangeRecord():
                self._change_isr(record)
            case m.ConfigRecord():
                if record.resource_type == TOPIC_RESOURCE:
                    self.topic_configs.setdefault(record.resource_name, {})[record.name] = record.value
            case m.DeleteTopicRecord():
                self._delete_topic(record.name)
            case _:
                assert_never(record)
        self.offset = offset

    def _delete_topic(self, topic_id: UUID) -> None:
        name = self.topic_names.pop(topic_id)
        del self.topics[name]
        partitions = self.partitions.pop(topic_id).values()
        self.deleted[name] = max((partition.leader_epoch for partition in partitions), default=NO_EPOCH)
        self.topic_configs.pop(name, None)

    def _register(self, record: m.BrokerRecord) -> None:
        endpoints = tuple(Endpoint(e.name, e.host, unsigned16(e.port)) for e in record.end_points)
        holder = self.brokers.get(record.broker_id)
        since = record.broker_epoch if holder is None else holder.since
        self.brokers[record.broker_id] = Broker(record.broker_id, record.broker_epoch, since, endpoints, record.rack)

    def _set_partition(self, record: m.PartitionRecord) -> None:
        partitions = self.partitions[record.topic_id]
        known = partitions.get(record.partition_id)
        if known is None:
            self.partitions_created += 1
        partitions[record.partition_id] = Partition(
            record.topic_id,
            record.partition_id,
            tuple(record.replicas),
            tuple(record.isr),
            record.leader,
            record.leader_epoch,
            _tenure(known, record.leader, record.leader_epoch),
            self._joined(known, record.isr, record.leader),
        )

    def _change_isr(self, record: m.IsrChangeRecord) -> None:
        partitions = self.partitions[record.topic_id]
        known = partitions[record.partition_id]
        partitions[record.partition_id] = replace(
            known,
            isr=tuple(record.isr),
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            tenure_epoch=_tenure(known, record.leader, record.leader_epoch),
            joined=self._joined(known, record.isr, record.leader),
        )

    def _joined(self, known: Partition | None, isr: Sequence[int], leader: int) -> Mapping[int, int]:
        joined = {} if known is None else {member: known.joined[member] for member in known.isr if member in isr}
        elected = known is None or leader != known.leader
        for member in isr:
            if member in self.brokers and (member not in joined or (elected and member == leader)):
                joined[member] = self.brokers[member].since
        return {member: joined.get(member, NO_EPOCH) for member in isr}


def _tenure(known: Partition | None, leader: int, leader_epoch: int) -> int:
    return known.tenure_epoch if known is not None and known.leader == leader else leader_epoch
