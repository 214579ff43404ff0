"""The parts of a simulated world: a log in memory on a disk that can break, and the process that has it."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import PartitionAssignment, TopicPartition
from fencepost.cluster_impl.replication.fetcher import Following
from fencepost.cluster_impl.replication.partition import Partition
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.rules import KIP_101, Rules
from fencepost.cluster_impl.storage.epochs import LeaderEpochCache
from fencepost.cluster_impl.storage.log import Appended, Log
from fencepost.cluster_impl.wire.batches import Batch, patch, split
from fencepost.cluster_impl.wire.codec import Buffer

NAME, TOPIC_ID = TopicPartition("t", 0), UUID(int=1)
CONFIG = DataPlaneConfig(lag_limit=5.0)


class MemoryLog:
    """The part of `storage.Log` that a replica uses, for batches of one record each."""

    log_start_offset = 0
    stopped_producers = None

    def __init__(self, kept: list[bytes] | None = None) -> None:
        self.entries = kept if kept is not None else []
        self.broken = False
        self.segment_bytes = 0
        self.epochs = LeaderEpochCache(lambda: len(self.entries), self._touch)
        for batch in self.batches(0):
            self.epochs.assign(batch.leader_epoch, batch.base_offset)

    def _touch(self) -> None:
        if self.broken:
            raise OSError(errno.EIO, "the disk is broken")

    @property
    def log_end_offset(self) -> int:
        return len(self.entries)

    def append_as_leader(self, buffer: Buffer, leader_epoch: int) -> Appended:
        stamped = bytearray(buffer)
        patch(stamped, 0, len(self.entries), leader_epoch)
        self.append_as_follower(stamped)
        return Appended(len(self.entries) - 1, len(self.entries) - 1)

    def append_as_follower(self, buffer: Buffer) -> None:
        self._touch()
        for batch in split(buffer):
            assert batch.base_offset == len(self.entries)
            self.epochs.assign(batch.leader_epoch, batch.base_offset)
            self.entries.append(bytes(batch.view))

    def read(self, offset: int, max_bytes: int, limit_offset: int) -> bytes:
        self._touch()
        count = max(max_bytes // len(self.entries[offset]), 1)
        return b"".join(self.entries[offset : min(offset + count, limit_offset)])

    def batches(self, from_offset: int) -> Iterator[Batch]:
        return (split(entry)[0] for entry in self.entries[from_offset:])

    def truncate_to(self, offset: int) -> int:
        self._touch()
        del self.entries[offset:]
        self.epochs.truncate_from_end(offset)
        return offset

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Decision:
    """The decisions of the control plane: the partition, registered brokers with their epochs, offline replicas."""

    partition: PartitionAssignment
    registered: dict[int, int]
    offline: frozenset[int] = frozenset()

    @property
    def able(self) -> list[int]:
        """In-sync replicas that can lead."""
        return [member for member in self.partition.isr if member in self.registered and member not in self.offline]


class Node:
    """A process; a new one is made for each start. What is on its disk outlives it."""

    def __init__(
        self, node_id: int, broker_epoch: int, entries: list[bytes], high_watermark: int, rules: Rules = KIP_101
    ) -> None:
        self.node_id = node_id
        self.broker_epoch = broker_epoch
        self.memory = MemoryLog(entries)
        known = min(high_watermark, len(entries))
        core = Partition(node_id, NAME, TOPIC_ID, high_watermark=known, lag_limit=CONFIG.lag_limit, rules=rules)
        self.replica = Replica(core, cast("Log", self.memory), CONFIG, self._failed, lambda: None)
        self.known = -1
        """Index of the newest decision that this process has heard of."""
        self.registered: dict[int, int] = {}
        self.following = Following(self.replica)
        self.asked_at = 0.0
        """When the ISR change that is under way was asked for."""
        self.failed = False
        """Its disk has failed, and it has noticed."""
        self.stopped = False

    def _failed(self, error: OSError) -> None:
        self.failed = True
        self.replica.fail()

    @property
    def core(self) -> Partition:
        return self.replica.core
