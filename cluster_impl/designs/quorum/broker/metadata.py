"""A broker's copy of the metadata, and the part of it that the data plane receives.

The metadata says which partitions *broker 4* leads. Whether this process is broker 4 is another question while two
processes claim the id. So the data plane receives only states in which the registration is this process's own;
otherwise a process that lost its id would write its rival's leadership into its own log.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import cast
from uuid import UUID

from fencepost.cluster_impl.designs.quorum.image import (
    ALL_BROKERS,
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
    MetadataImage,
    MetadataRecord,
)
from fencepost.cluster_impl.designs.shared.topic_settings import below_topics
from fencepost.cluster_impl.replication.control_plane import (
    Change,
    DataPlane,
    PartitionAssignment,
    PartitionRemoved,
    ReplicaStopped,
    TopicPartition,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.records import decode_record

Key = tuple[UUID, int]


class BrokerMetadata:
    """Replays committed records into `image` and hands the broker's own replicas to `data_plane`.

    `own_epoch` returns the broker epoch that this process was granted last, -1 before the first. `remove_strays`
    deletes all replicas on disk but the given ones. It is called each time that the metadata has reached the
    registration of this process: deletions before that are in no later record.
    """

    def __init__(
        self,
        broker_id: int,
        own_epoch: Callable[[], int],
        image: MetadataImage,
        data_plane: DataPlane,
        remove_strays: Callable[[Collection[TopicPartition]], None],
    ) -> None:
        self.image = image
        self._data_plane = data_plane
        self._broker_id = broker_id
        self._own_epoch = own_epoch
        self._remove_strays = remove_strays
        self._is_ours = False
        self._delivered: dict[Key, str] = {}

    def on_records(self, records: Sequence[tuple[int, bytes]]) -> None:
        """Replay committed records, given in order as (offset, value)."""
        touched: dict[Key, None] = {}
        for offset, value in records:
            record = cast("MetadataRecord", decode_record(value))
            match record:
                case m.PartitionRecord() | m.IsrChangeRecord():
                    touched[record.topic_id, record.partition_id] = None
                case m.TopicRecord() if record.deleting:
                    known = self.image.partitions.get(record.topic_id, ())
                    touched |= dict.fromkeys((record.topic_id, index) for index in known)
                case m.DeleteTopicRecord():
                    touched |= dict.fromkeys((record.name, index) for index in self.image.partitions[record.name])
                case m.ConfigRecord():
                    touched |= dict.fromkeys(self._configured_by(record))
            self.image.replay(record, offset)
        self._pass_on(touched)

    def on_snapshot(self, values: Sequence[bytes], end_offset: int) -> None:
        """Take the state of a snapshot in place of everything replayed before.

        A partition that it does not have was deleted in records that this process never saw.
        """
        self.image.load((cast("MetadataRecord", decode_record(value)) for value in values), end_offset)
        self._pass_on(dict.fromkeys((*self._delivered, *self._mine())))

    def on_epoch(self) -> None:
        """Handle that this process was granted an epoch; the record of it may have arrived earlier."""
        self._pass_on(())

    def _pass_on(self, touched: Iterable[Key]) -> None:
        registered = self.image.brokers.get(self._broker_id)
        was_ours = self._is_ours
        if registered is not None:
            self._is_ours = registered.epoch == self._own_epoch()
        if not self._is_ours:
            return
        if not was_ours:
            touched = dict.fromkeys((*self._delivered, *self._mine()))
        changes = [change for key in touched if (change := self._change(key)) is not None]
        if changes:
            self._data_plane.apply(changes)
        if not was_ours:
            self._remove_strays({TopicPartition(self.image.topic_names[topic], index) for topic, index in self._mine()})

    def _mine(self) -> Iterable[Key]:
        for partition in self.image.all_partitions():
            if self._broker_id in partition.replicas:
                yield partition.topic_id, partition.index

    def _configured_by(self, record: m.ConfigRecord) -> Iterable[Key]:
        """Yield the partitions of this broker that a setting is for."""
        name = record.resource_name
        if record.resource_type == BROKER_RESOURCE and name in (ALL_BROKERS, str(self._broker_id)):
            yield from self._mine()
        elif record.resource_type == TOPIC_RESOURCE and (topic := self.image.topics.get(name)) is not None:
            yield from (key for key in self._mine() if key[0] == topic.id)

    def _change(self, key: Key) -> Change | None:
        topic_id, index = key
        partition = self.image.partitions.get(topic_id, {}).get(index)
        if partition is None or self._broker_id not in partition.replicas:
            name = self._delivered.pop(key, None)
            return None if name is None else PartitionRemoved(topic=name, topic_id=topic_id, partition=index)
        name = self.image.topic_names[topic_id]
        self._delivered[key] = name
        if topic_id in self.image.deleting:
            return ReplicaStopped(topic=name, topic_id=topic_id, partition=index)
        return PartitionAssignment(
            topic=name,
            topic_id=topic_id,
            partition=index,
            replicas=partition.replicas,
            isr=partition.isr,
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            leader_term_epoch=partition.leader_term_epoch,
            version=partition.leader_epoch,
            config={**below_topics(self.image.broker_config_of(self._broker_id)), **self.image.config_of(name)},
        )
