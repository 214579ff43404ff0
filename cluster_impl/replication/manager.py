"""All replicas of this broker: opens and removes them, follows their leaders, and keeps their ISRs current."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.cleaner import LogCleaner
from fencepost.cluster_impl.replication.control_plane import (
    Change,
    ControlPlane,
    IsrAccepted,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    PartitionAssignment,
    PartitionRemoved,
    ReplicaStopped,
    SettingsChanged,
    TopicPartition,
)
from fencepost.cluster_impl.replication.fetcher import Fetcher
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.replication.in_sync import ISR_PAUSE
from fencepost.cluster_impl.replication.partition import RoleTransition
from fencepost.cluster_impl.replication.progress import Progress, ReplicaRole
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.rules import KIP_101, Rules
from fencepost.cluster_impl.replication.store import ReplicaStore
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.storage.directory import LogDir, LogDirError
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire.client import Connect
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

TransitionListener = Callable[[Replica, RoleTransition], None]


class ReplicaManager:
    """The data plane that a control plane drives (`DataPlane`). Runs on one event loop."""

    def __init__(
        self,
        control: ControlPlane,
        config: DataPlaneConfig,
        dirs: LogDirs,
        connect: Connect,
        rules: Rules = KIP_101,
    ) -> None:
        """`connect` opens connections to the leaders that this broker follows."""
        self.control = control
        self.config = config
        self.transitions: list[TransitionListener] = []
        """Called after a replica has changed its role or lost it."""
        self._connect = connect
        self._store = ReplicaStore(control.broker_id, config, dirs, self._lost, rules)
        self._replicas = self._store.replicas
        self._cleaner = LogCleaner(self._replicas, config)
        self._topics: dict[UUID, str] = {}
        self._fetchers: dict[int, Fetcher] = {}
        self._proposals: set[asyncio.Task[None]] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._all_failed = asyncio.Event()
        self._closing = False

    async def start(self) -> None:
        work = (self._watch_isrs(), self._write_checkpoints(), self._cleaner.delete_expired(), self._cleaner.compact())
        self._tasks = [asyncio.create_task(coroutine) for coroutine in work]

    async def close(self) -> None:
        """Stop following and leading, and leave the logs so that a restart finds them whole."""
        self._closing = True
        tasks = [*self._tasks, *self._proposals]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(fetcher.close() for fetcher in self._fetchers.values()))
        self._store.close()

    async def failed(self) -> None:
        """Never return; raise LogDirError when the last log dir has failed."""
        await self._all_failed.wait()
        raise LogDirError("all log dirs have failed: this node has nowhere left to keep its replicas")

    def get(self, topic: str, partition: int) -> Replica | None:
        """Return the replica if this broker has it and can use it."""
        return self._replicas.get(TopicPartition(topic, partition))

    def find(self, topic: str, partition: int) -> Replica:
        """Return the replica. Raises PartitionError: KAFKA_STORAGE_ERROR if it is offline, else that it is unknown."""
        return self._store.find(TopicPartition(topic, partition))

    def topic_name(self, topic_id: UUID) -> str | None:
        """Return the name of a topic of which this broker has replicas, or else of any topic in the cluster."""
        if topic_id in self._topics:
            return self._topics[topic_id]
        topics = self.control.cluster().topics.values()
        return next((topic.name for topic in topics if topic.topic_id == topic_id), None)

    def log_dirs(self) -> tuple[Mapping[Path, Sequence[Replica]], Mapping[Path, str]]:
        """Return the usable replicas by log dir, and the reasons why other log dirs are offline."""
        return self._store.homes(), self._store.dirs.offline

    def progress(self, name: TopicPartition) -> Progress | None:
        replica = self._replicas.get(name)
        return None if replica is None else replica.core.progress(time.monotonic())

    def __iter__(self) -> Iterator[Replica]:
        return iter(self._replicas.values())

    def apply(self, changes: Sequence[Change]) -> Mapping[TopicPartition, Error]:
        errors = {}
        for change in changes:
            try:
                match change:
                    case PartitionAssignment():
                        self._assign(change)
                    case ReplicaStopped():
                        self._stop(change.topic_partition, change.topic_id)
                    case PartitionRemoved():
                        self._remove(change.topic_partition, change.topic_id)
                    case SettingsChanged():
                        self._configure(change)
            except PartitionError as refused:
                log.warning("%s: not done: %s", change.topic_partition, refused)
                errors[change.topic_partition] = refused.error
        self._close_idle_fetchers()
        return errors

    def _assign(self, to: PartitionAssignment) -> None:
        name = to.topic_partition
        replica = self._replicas.get(name)
        if replica is not None and replica.core.topic_id != to.topic_id:
            self._remove(name, replica.core.topic_id)
            replica = None
        if replica is None:
            self._topics[to.topic_id] = to.topic
            replica = self._store.open(to)
        followed = replica.core.leader if replica.core.role is ReplicaRole.FOLLOWER else None
        transition = replica.assign(to, time.monotonic())
        if transition is RoleTransition.NOTHING:
            return
        core = replica.core
        log.info(
            "%s: %s at leader epoch %d, leader %d, ISR %s, log end %d, high watermark %d",
            name,
            transition.name.lower().replace("_", " "),
            core.leader_epoch,
            core.leader,
            sorted(core.isr.committed),
            core.log_end_offset,
            core.high_watermark,
        )
        if followed is not None and (core.role is not ReplicaRole.FOLLOWER or core.leader != followed):
            self._fetchers[followed].remove(name)
        if core.role is ReplicaRole.FOLLOWER:
            self._fetcher(core.leader).follow(replica, is_new_term=transition is RoleTransition.FOLLOWS)
        self._notify(replica, transition)

    def _configure(self, change: SettingsChanged) -> None:
        replica = self._replicas.get(change.topic_partition)
        if replica is not None and replica.core.topic_id == change.topic_id:
            replica.configure(change.config)
            log.info("%s: has the settings %s", replica, dict(change.config))

    def _stop(self, name: TopicPartition, topic_id: UUID | None) -> None:
        replica = self._replicas.get(name)
        if replica is None:
            if name in self._store.offline:
                raise PartitionError(Error.KAFKA_STORAGE_ERROR)
            return
        if topic_id not in (None, replica.core.topic_id):
            return
        self._unfollow(replica)
        replica.stop()
        log.info("%s: stopped at leader epoch %d", name, replica.core.leader_epoch)
        self._notify(replica, RoleTransition.WENT_OFFLINE)

    def _remove(self, name: TopicPartition, topic_id: UUID | None) -> None:
        replica = self._replicas.get(name)
        if replica is not None and topic_id in (None, replica.core.topic_id):
            self._unfollow(replica)
            others = (each.core.topic_id for each in self if each is not replica)
            if replica.core.topic_id not in others:
                self._topics.pop(replica.core.topic_id, None)
        removed = self._store.remove(name, topic_id)
        if removed is not None:
            log.info("%s: removed", name)
            self._notify(removed, RoleTransition.WENT_OFFLINE)

    def _lost(self, directory: LogDir, replicas: Sequence[Replica]) -> None:
        """End the replicas of a failed log dir, and notify the control plane after this turn of the loop."""
        for replica in replicas:
            self._unfollow(replica)
            replica.fail()
        for replica in replicas:
            self._notify(replica, RoleTransition.WENT_OFFLINE)
        if self._closing:
            return
        names = [replica.core.name for replica in replicas]
        asyncio.get_running_loop().call_soon(self.control.log_dir_failed, directory.path, names)
        if self._store.all_failed:
            self._all_failed.set()

    def _notify(self, replica: Replica, transition: RoleTransition) -> None:
        for listener in self.transitions:
            listener(replica, transition)

    def _unfollow(self, replica: Replica) -> None:
        """Remove a replica from every fetcher: after a disk failure it may still be with the former leader's."""
        for fetcher in self._fetchers.values():
            fetcher.remove(replica.core.name)

    def _fetcher(self, leader: int) -> Fetcher:
        if leader not in self._fetchers:
            self._fetchers[leader] = Fetcher(leader, self.control, self.config, self._connect)
        return self._fetchers[leader]

    def _close_idle_fetchers(self) -> None:
        for leader in [leader for leader, fetcher in self._fetchers.items() if fetcher.idle]:
            self._fetchers.pop(leader).cancel()

    def credit(self, replica: Replica, fetch: FollowerFetch, last_epoch: int) -> None:
        """Count a follower's fetch, and let the follower into the ISR if it has caught up. Raises PartitionError."""
        replica.credit(fetch, self.control.registered_epoch(fetch.replica_id), last_epoch, time.monotonic())
        if fetch.replica_id not in replica.core.isr.committed:
            self._consider_isr(replica)

    def _consider_isr(self, replica: Replica) -> None:
        proposal = replica.core.next_isr(self.control.registered_epoch, time.monotonic())
        if proposal is not None:
            log.info("%s: asks for ISR %s at leader epoch %d", replica, list(proposal.isr), proposal.leader_epoch)
            task = asyncio.create_task(self._alter_isr(replica, proposal))
            self._proposals.add(task)
            task.add_done_callback(self._proposals.discard)

    async def _alter_isr(self, replica: Replica, proposal: IsrProposal) -> None:
        try:
            outcome = await self.control.alter_isr(proposal)
        except Exception as failure:
            # Without an outcome this ISR would never change again (KAFKA-2729).
            log.exception("%s: the request for an ISR failed in this broker", replica)
            outcome = IsrUnknown(repr(failure))
        replica.isr_answered(proposal, outcome, time.monotonic())
        pause = ISR_PAUSE
        match outcome:
            case IsrRefused(error):
                log.warning("%s: ISR %s was refused: %s", replica, list(proposal.isr), error.name)
            case IsrUnknown(reason):
                log.warning("%s: the outcome of ISR %s is unknown: %s", replica, list(proposal.isr), reason)
            case IsrAccepted():
                log.info("%s: ISR is %s at leader epoch %d", replica, list(outcome.isr), outcome.leader_epoch)
                pause = 0.0
        asyncio.get_running_loop().call_later(pause, self._consider_isr, replica)

    async def _watch_isrs(self) -> None:
        interval = self.config.isr_check_interval or min(max(self.config.lag_limit / 4, 0.1), 5.0)
        while True:
            await asyncio.sleep(interval)
            for replica in self._replicas.values():
                self._consider_isr(replica)

    async def _write_checkpoints(self) -> None:
        while True:
            await asyncio.sleep(self.config.checkpoint_interval)
            self._store.checkpoint()
            self._close_idle_fetchers()
