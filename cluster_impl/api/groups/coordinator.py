"""The groups that this broker coordinates, and their offsets.

A group belongs to one partition of `__consumer_offsets`; the leader of that partition coordinates the group, and
replays its offsets when it becomes leader. Memberships are not written: after a failover members join again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from fencepost.cluster_impl.api.groups.group import Group, Joined, Replies, Synced, Token
from fencepost.cluster_impl.api.groups.offset_records import (
    CommittedOffset,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
)
from fencepost.cluster_impl.api.serving import fencing_error
from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.replication.manager import ReplicaManager
from fencepost.cluster_impl.replication.partition import STILL_LEADS, RoleTransition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.replica import ProducedRecords, Replica
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.wire import batches
from fencepost.cluster_impl.wire.codec import Malformed
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

OFFSETS_TOPIC = "__consumer_offsets"

_COMMIT_TIMEOUT = 5.0
_SLICE = 0.005
"""Seconds for which offsets are read before the node's other work has its turn."""
_ACKS_ALL = -1


class HostedGroup:
    """A group together with the timer that drives it. Tokens are futures.

    It is in `hosts` only while it has, or expects, members, so that requests for unknown groups use no memory.
    """

    def __init__(self, group: Group, hosts: dict[str, HostedGroup]) -> None:
        self.group = group
        self._hosts = hosts
        self._timer: asyncio.TimerHandle | None = None

    def deliver(self, replies: Replies) -> None:
        """Send the replies that are due, and set the timer for the group's next deadline."""
        for token, reply in replies:
            assert isinstance(token, asyncio.Future)
            if not token.done():
                token.set_result(reply)
        if self.group.is_idle:
            self._hosts.pop(self.group.group_id, None)
        else:
            self._hosts[self.group.group_id] = self
        self._set_timer(self.group.next_deadline())

    def _set_timer(self, deadline: float) -> None:
        """Set the timer, unless an earlier one is set, which sets the next one."""
        if self._timer is not None and (self.group.is_idle or self._timer.when() > deadline):
            self._timer.cancel()
            self._timer = None
        if self._timer is None and deadline < float("inf"):
            self._timer = asyncio.get_running_loop().call_at(deadline, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.deliver(self.group.tick(time.monotonic()))

    def close(self) -> None:
        """Make the members look for the coordinator again."""
        if self._timer is not None:
            self._timer.cancel()
        for member in self.group.members.values():
            _send_away(member.joining, Joined(error=Error.NOT_COORDINATOR, member_id=member.member_id))
            _send_away(member.syncing, Synced(error=Error.NOT_COORDINATOR))


def _send_away(token: Token | None, reply: Joined | Synced) -> None:
    if isinstance(token, asyncio.Future) and not token.done():
        token.set_result(reply)


@dataclass(slots=True)
class Shard:
    """The groups of one offsets partition that this broker leads."""

    replica: Replica
    groups: dict[str, HostedGroup] = field(default_factory=dict)
    offsets: dict[str, dict[TopicPartition, CommittedOffset]] = field(default_factory=dict)
    loading: asyncio.Task[None] | None = None
    """The task that reads the rest of the log; None once all offsets are known."""

    def load(self) -> None:
        """Read the offsets in the log: at once if that is quick, else in slices, so that the node does its other work.

        A record that cannot be read is skipped and logged.
        """
        steps = self._steps()
        if next(steps, None) is not None:
            self.loading = asyncio.create_task(self._load(steps))

    async def _load(self, steps: Iterator[bool]) -> None:
        try:
            for _ in steps:
                await asyncio.sleep(0)
        except PartitionError as error:
            log.error("%s: its offsets cannot be read: %s", self.replica, error)
            return  # Its log dir has failed, and another broker will coordinate these groups.
        self.loading = None
        log.info("%s: the offsets of %d groups are loaded", self.replica, len(self.offsets))

    def _steps(self) -> Iterator[bool]:
        """Read the log; yield after each slice of time, but the last."""
        until = time.monotonic() + _SLICE
        for batch in self.replica.batches():
            if time.monotonic() > until:
                yield True
                until = time.monotonic() + _SLICE
            if batch.is_control:
                continue
            try:
                for record in batches.parse(batch):
                    self._replay(record)
            except Malformed as error:
                log.error("%s: %s", self.replica, error)

    def close(self) -> None:
        """Make the members look for the coordinator again."""
        if self.loading is not None:
            self.loading.cancel()
        for hosted in self.groups.values():
            hosted.close()

    def _replay(self, record: batches.Record) -> None:
        key = decode_key(record.key) if record.key is not None else None
        if key is None:
            return
        group_id, partition = key
        self.adopt(group_id, {partition: None if record.value is None else decode_value(record.value)})

    def adopt(self, group_id: str, offsets: Mapping[TopicPartition, CommittedOffset | None]) -> None:
        """Take over offsets that are in the log; None means deleted. A group without any is forgotten."""
        committed_offsets = self.offsets.setdefault(group_id, {})
        for partition, committed in offsets.items():
            if committed is None:
                committed_offsets.pop(partition, None)
            else:
                committed_offsets[partition] = committed
        if not committed_offsets:
            del self.offsets[group_id]


class Coordinator:
    def __init__(self, replicas: ReplicaManager, config: DataPlaneConfig) -> None:
        self._config = config
        self._replicas = replicas
        self._shards: dict[int, Shard] = {}
        self._looking: asyncio.Task[None] | None = None
        replicas.transitions.append(self._transition)

    def _transition(self, replica: Replica, transition: RoleTransition) -> None:
        if replica.core.name.topic != OFFSETS_TOPIC or transition in STILL_LEADS:
            return
        partition = replica.core.name.partition
        former = self._shards.pop(partition, None)
        if former is not None:
            former.close()
        if replica.core.role is ReplicaRole.LEADER:
            shard = self._shards[partition] = Shard(replica)
            shard.load()
            self._look()

    def _look(self) -> None:
        """Have the control plane read the partition count of the offsets topic, by which groups are placed."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_once())

    async def _look_once(self) -> None:
        await self._replicas.control.look([OFFSETS_TOPIC])

    def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()

    def shard(self, group_id: str) -> Shard:
        """Return the shard of a group.

        Raises PartitionError: NOT_COORDINATOR if another broker coordinates it, COORDINATOR_LOAD_IN_PROGRESS while its
        offsets are being read.
        """
        topic = self._replicas.control.cluster().topics.get(OFFSETS_TOPIC)
        if topic is None and self._shards:
            self._look()
        shard = self._shards.get(partition_of(group_id, len(topic.partitions))) if topic else None
        if shard is None or not shard.replica.core.serves_clients:
            raise PartitionError(Error.NOT_COORDINATOR)
        if shard.loading is not None:
            raise PartitionError(Error.COORDINATOR_LOAD_IN_PROGRESS)
        return shard

    def group(self, group_id: str) -> HostedGroup:
        """Return a group of this broker; one without members if it is not known. Raises PartitionError."""
        if not group_id:
            raise PartitionError(Error.INVALID_GROUP_ID)
        groups = self.shard(group_id).groups
        delay = self._config.group_initial_rebalance_delay
        return groups.get(group_id) or HostedGroup(Group(group_id, delay), groups)

    def groups(self) -> list[Group]:
        """Return all groups of this broker: those with members, and those with offsets only."""
        groups: dict[str, Group] = {}
        for shard in self._shards.values():
            groups |= {group_id: Group(group_id, 0.0) for group_id in shard.offsets}
            groups |= {group_id: hosted.group for group_id, hosted in shard.groups.items()}
        return list(groups.values())

    async def commit(self, group_id: str, offsets: Mapping[TopicPartition, CommittedOffset]) -> Error:
        """Write offsets with acks=all; they can be fetched once the write has succeeded."""
        return await self._write(group_id, offsets)

    async def remove(self, group_id: str, partitions: Collection[TopicPartition]) -> Error:
        """Write that these offsets of a group are deleted; they are gone once the write has succeeded."""
        return await self._write(group_id, dict.fromkeys(partitions)) if partitions else Error.NONE

    async def _write(self, group_id: str, offsets: Mapping[TopicPartition, CommittedOffset | None]) -> Error:
        """Write one batch. Writes end in the order of the log, so that memory and log agree on the last one."""
        now = time.time_ns() // 1_000_000
        records: list[tuple[bytes | None, bytes | None, int]] = [
            (
                encode_key(group_id, partition),
                None if committed is None else encode_value(committed),
                now if committed is None else committed.committed_at,
            )
            for partition, committed in offsets.items()
        ]
        try:
            shard = self.shard(group_id)
            appended = shard.replica.append_as_leader(batches.build(records), _ACKS_ALL, time.monotonic())
        except PartitionError as refused:
            return _commit_error(refused.error)
        error = await _committed(shard.replica, appended, _COMMIT_TIMEOUT)
        if not error:
            shard.adopt(group_id, offsets)
            error = fencing_error(self._replicas.control)
        return _commit_error(error)


async def _committed(replica: Replica, appended: ProducedRecords, timeout: float) -> Error:
    """Wait until the high watermark has reached the appended records, or cannot any more."""
    since = replica.core.led_since
    error = replica.core.acknowledges(appended.next_offset, since)
    if error is not None:
        return error
    decided: asyncio.Future[Error] = asyncio.get_running_loop().create_future()
    waiting = replica.purgatory.acknowledgements.wait(
        appended.next_offset, since, lambda error: None if decided.done() else decided.set_result(error)
    )
    try:
        async with asyncio.timeout(timeout):
            return await decided
    except TimeoutError:
        return Error.REQUEST_TIMED_OUT
    finally:
        replica.purgatory.acknowledgements.forget(waiting)


def _commit_error(error: Error) -> Error:
    """Return the error for a group's client whose offsets could not be written."""
    kept = (Error.NONE, Error.NOT_COORDINATOR, Error.COORDINATOR_LOAD_IN_PROGRESS, Error.MESSAGE_TOO_LARGE)
    if error in kept:
        return error
    return Error.NOT_COORDINATOR if error is Error.NOT_LEADER_OR_FOLLOWER else Error.COORDINATOR_NOT_AVAILABLE


def partition_of(group_id: str, partitions: int) -> int:
    """Return the offsets partition of a group, by the hash of strings in Java as in Kafka, so that all tools agree."""
    code = 0
    encoded = group_id.encode("utf-16-be")
    for high, low in zip(encoded[::2], encoded[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    magnitude = code if code < 1 << 31 else (1 << 32) - code
    return magnitude % (1 << 31) % partitions
