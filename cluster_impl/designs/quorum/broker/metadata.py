"""A broker's copy of the metadata, and what of it the data plane is told.

The metadata says which partitions *broker 4* leads; whether this process is broker 4 is another question while two
processes claim the id. So the data plane is told only of states in which the registration is this process's own: a
process that lost its id would otherwise note, in its own log, a leadership that was its rival's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast
from uuid import UUID

from cluster_impl.designs.quorum.image import MetadataImage, MetadataRecord
from cluster_impl.replication.control_plane import DataPlane, PartitionAssignment, PartitionRemoved
from cluster_impl.wire import messages as m
from cluster_impl.wire.records import decode_record

Key = tuple[UUID, int]


class BrokerMetadata:
    """`own_epoch` gives the epoch that this process was granted last, -1 before the first."""

    def __init__(self, broker_id: int, own_epoch: Callable[[], int]) -> None:
        self.image = MetadataImage()
        self._data_plane: DataPlane | None = None
        self._broker_id = broker_id
        self._own_epoch = own_epoch
        self._is_ours = False
        self._told: dict[Key, str] = {}

    def attach(self, data_plane: DataPlane) -> None:
        """Name whom to tell; before the first records."""
        self._data_plane = data_plane

    def on_records(self, records: Sequence[tuple[int, bytes]]) -> None:
        """Take in committed records, in order."""
        touched: dict[Key, None] = {}
        for offset, value in records:
            record = cast("MetadataRecord", decode_record(value))
            match record:
                case m.PartitionRecord() | m.IsrChangeRecord():
                    touched[record.topic_id, record.partition_id] = None
                case m.DeleteTopicRecord():
                    touched |= dict.fromkeys((record.name, index) for index in self.image.partitions[record.name])
            self.image.replay(record, offset)
        self._pass_on(touched)

    def on_epoch(self) -> None:
        """This process was granted an epoch; its record may have arrived before."""
        self._pass_on(())

    def _pass_on(self, touched: Iterable[Key]) -> None:
        registered = self.image.brokers.get(self._broker_id)
        was_ours = self._is_ours
        if registered is not None:
            self._is_ours = registered.epoch == self._own_epoch()
        if not self._is_ours or self._data_plane is None:
            return
        if not was_ours:
            touched = dict.fromkeys((*self._told, *self._mine()))
        changes = [change for key in touched if (change := self._change(key)) is not None]
        if changes:
            self._data_plane.apply(changes)

    def _mine(self) -> Iterable[Key]:
        for partition in self.image.all_partitions():
            if self._broker_id in partition.replicas:
                yield partition.topic_id, partition.index

    def _change(self, key: Key) -> PartitionAssignment | PartitionRemoved | None:
        topic_id, index = key
        partition = self.image.partitions.get(topic_id, {}).get(index)
        if partition is None or self._broker_id not in partition.replicas:
            told = self._told.pop(key, None)
            return None if told is None else PartitionRemoved(topic=told, topic_id=topic_id, partition=index)
        name = self.image.topic_names[topic_id]
        self._told[key] = name
        return PartitionAssignment(
            topic=name,
            topic_id=topic_id,
            partition=index,
            replicas=partition.replicas,
            isr=partition.isr,
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            tenure_epoch=partition.tenure_epoch,
            version=partition.leader_epoch,
            config=self.image.config_of(name),
        )
