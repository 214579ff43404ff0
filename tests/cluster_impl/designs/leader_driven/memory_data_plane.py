"""The data plane of a broker in memory: real decisions (`replication.partition`), logs that are only a length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from fencepost.cluster_impl.replication.control_plane import (
    Change,
    IsrProposal,
    PartitionAssignment,
    PartitionRemoved,
    ReplicaStopped,
    SettingsChanged,
    TopicPartition,
)
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.partition import Partition, RoleTransition
from fencepost.cluster_impl.replication.progress import Progress, ReplicaRole
from fencepost.cluster_impl.replication.rules import REPLICATION_V2
from fencepost.cluster_impl.wire.errors import Error


@dataclass(slots=True)
class StoredLog:
    """A log on disk, and its checkpointed high watermark."""

    topic_id: UUID
    end: int = 0
    high_watermark: int = 0


@dataclass(slots=True)
class Disk:
    """The state that outlives a process."""

    logs: dict[TopicPartition, StoredLog] = field(default_factory=dict)
    has_lost_dir: bool = False
    """A log dir is offline, and may hold any replica that is not in `logs`."""


class MemoryDataPlane:
    def __init__(self, broker_id: int, disk: Disk, clock: Callable[[], float], lag_limit: float) -> None:
        self.replicas: dict[TopicPartition, Partition] = {}
        self.settings: dict[TopicPartition, Mapping[str, str]] = {}
        """The settings that each replica was handed last."""
        self.failed = False
        self._broker_id = broker_id
        self._disk = disk
        self._clock = clock
        self._lag_limit = lag_limit

    def apply(self, changes: Sequence[Change]) -> Mapping[TopicPartition, Error]:
        for change in changes:
            if self.failed:
                return {change.topic_partition: Error.KAFKA_STORAGE_ERROR}
            match change:
                case PartitionAssignment():
                    if self._disk.has_lost_dir and not change.is_new and change.topic_partition not in self._disk.logs:
                        return {change.topic_partition: Error.KAFKA_STORAGE_ERROR}
                    self._assign(change)
                case ReplicaStopped():
                    if change.topic_partition in self.replicas:
                        self.replicas[change.topic_partition].stop()
                case PartitionRemoved():
                    self._remove(change.topic_partition, change.topic_id)
                case SettingsChanged():
                    self.settings[change.topic_partition] = change.config
        return {}

    def progress(self, name: TopicPartition) -> Progress | None:
        replica = self.replicas.get(name)
        return replica.progress(self._clock()) if replica is not None and not self.failed else None

    def _assign(self, to: PartitionAssignment) -> None:
        name = to.topic_partition
        self.settings[name] = to.config
        kept = self._disk.logs.get(name)
        if kept is not None and kept.topic_id != to.topic_id:
            self._remove(name, None)
            kept = None
        replica = self.replicas.get(name)
        if replica is None:
            began_empty = kept is None
            kept = self._disk.logs.setdefault(name, StoredLog(to.topic_id))
            replica = self.replicas[name] = Partition(
                self._broker_id, name, to.topic_id, high_watermark=min(kept.high_watermark, kept.end),
                lag_limit=self._lag_limit, rules=REPLICATION_V2, began_empty=began_empty,
            )  # fmt: skip
        assert kept is not None
        transition = replica.assign(to, log_end_offset=kept.end, min_isr=1, now=self._clock())
        if transition is RoleTransition.FOLLOWS and replica.high_watermark < kept.end:
            kept.end = replica.high_watermark
            replica.truncated(kept.end)

    def _remove(self, name: TopicPartition, topic_id: UUID | None) -> None:
        kept = self._disk.logs.get(name)
        if kept is not None and topic_id in (None, kept.topic_id):
            del self._disk.logs[name]
            replica = self.replicas.pop(name, None)
            if replica is not None:
                replica.stop()

    def append(self, name: TopicPartition) -> None:
        """Produce one record as a client, if the leader serves it."""
        replica = self.replicas.get(name)
        if replica is not None and not replica.check_client(-1):
            kept = self._disk.logs[name]
            kept.end += 1
            replica.appended(kept.end, self._clock())

    def checkpoint(self) -> None:
        for name, replica in self.replicas.items():
            if not replica.keeps_checkpoint:
                self._disk.logs[name].high_watermark = replica.high_watermark

    def following(self) -> list[TopicPartition]:
        return [name for name, replica in self.replicas.items() if replica.role is ReplicaRole.FOLLOWER]

    def fetch(self, name: TopicPartition, own_epoch: int, leader: MemoryDataPlane, known: Mapping[int, int]) -> bool:
        """One fetch of at most two records; `known` are the registered brokers as the leader knows them. Whether it was
        credited."""
        replica, of_leader = self.replicas[name], leader.replicas.get(name)
        if of_leader is None or of_leader.topic_id != replica.topic_id:
            return False
        kept = self._disk.logs[name]
        fetch = FollowerFetch(self._broker_id, own_epoch, replica.leader_epoch, kept.end)
        if of_leader.check_follower(fetch, known.get(self._broker_id)):
            return False
        if kept.end > of_leader.log_end_offset:  # out of range
            kept.end = of_leader.log_end_offset
            replica.truncated(kept.end)
            return False
        of_leader.credit(fetch, self._clock())
        kept.end = min(kept.end + 2, of_leader.log_end_offset)
        replica.copied(kept.end)
        replica.note_high_watermark(of_leader.high_watermark)
        return True

    def wished_isr(self, name: TopicPartition, known: Mapping[int, int]) -> IsrProposal | None:
        return self.replicas[name].next_isr(known.get, self._clock())
