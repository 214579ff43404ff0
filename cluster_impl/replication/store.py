"""The replicas of this broker, and the log dirs that they are in.

Opens a replica in its folder, or creates one; treats an I/O error as the end of the whole log dir; checkpoints the high
watermarks. The roles of replicas are decided elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from uuid import UUID

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.replication.control_plane import PartitionAssignment, TopicPartition
from fencepost.cluster_impl.replication.partition import Partition
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.replication.rules import KIP_101, Rules
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.storage.directory import LogDir, LogDirError
from fencepost.cluster_impl.storage.log import Log
from fencepost.cluster_impl.storage.log_dirs import LogDirs
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

UNKNOWN_TOPIC = UUID(int=0)
StorageListener = Callable[[LogDir, Sequence[Replica]], None]


class ReplicaStore:
    """The usable `replicas`, and the topic ids of the `offline` ones, which are known to be in a failed log dir.

    `lost` is called once for each log dir that has failed, with the replicas in it, which were removed from here.
    """

    def __init__(
        self, broker_id: int, config: DataPlaneConfig, dirs: LogDirs, lost: StorageListener, rules: Rules = KIP_101
    ) -> None:
        self.replicas: dict[TopicPartition, Replica] = {}
        self.offline: dict[TopicPartition, UUID] = {}
        self._broker_id = broker_id
        self._config = config
        self._dirs = dirs
        self._rules = rules
        self._lost = lost
        self._homes: dict[TopicPartition, LogDir] = {}

    @property
    def all_failed(self) -> bool:
        return not self._dirs.live

    @property
    def dirs(self) -> LogDirs:
        return self._dirs

    def homes(self) -> dict[Path, list[Replica]]:
        """Return the usable replicas by the log dir that they are in, also where there are none."""
        homes: dict[Path, list[Replica]] = {directory.path: [] for directory in self._dirs}
        for name, home in self._homes.items():
            homes[home.path].append(self.replicas[name])
        return homes

    def find(self, name: TopicPartition) -> Replica:
        """Return the replica. Raises PartitionError: KAFKA_STORAGE_ERROR if offline, or UNKNOWN_TOPIC_OR_PARTITION."""
        replica = self.replicas.get(name)
        if replica is None:
            offline = name in self.offline
            raise PartitionError(Error.KAFKA_STORAGE_ERROR if offline else Error.UNKNOWN_TOPIC_OR_PARTITION)
        return replica

    def open(self, to: PartitionAssignment) -> Replica:
        """Open the replica from its folder, or create a new one. Raises PartitionError if it is offline."""
        name = to.topic_partition
        if self.offline.get(name) == to.topic_id:
            raise PartitionError(Error.KAFKA_STORAGE_ERROR, "it is in a log dir that has failed")
        # A failed log dir cannot be read. The replica may be there, in sync, even the last one in sync: if it began
        # again empty in another folder, it could be elected, and the others would truncate to it (KIP-112).
        may_be_lost = bool(self._dirs.offline) and not to.is_new
        home = self._home(to)
        is_new = home is None
        if home is None:
            if may_be_lost:
                self.offline[name] = to.topic_id
                raise PartitionError(Error.KAFKA_STORAGE_ERROR, "it may be in a log dir that is offline")
            home = self._create(to)
        with self._giving_up(home, to):
            began_empty = is_new or (self._rules.notes_empty_replicas and home.noted_empty(to.topic, to.partition))
            replica = self._opened(to, home, began_empty)
        self.offline.pop(name, None)
        self.replicas[name], self._homes[name] = replica, home
        return replica

    @contextmanager
    def _giving_up(self, directory: LogDir, to: PartitionAssignment) -> Iterator[None]:
        """Let an error of the log dir take the replica offline. Raises PartitionError."""
        try:
            yield
        except (OSError, LogDirError) as error:
            self.offline[to.topic_partition] = to.topic_id
            self._failed(directory, error)
            raise PartitionError(Error.KAFKA_STORAGE_ERROR, str(error)) from error

    def _home(self, to: PartitionAssignment) -> LogDir | None:
        """Return the log dir with the replica's folder; remove the folders of earlier topics of the name."""
        found = None
        for directory in self._dirs.holding(to.topic, to.partition):
            with self._giving_up(directory, to):
                kept = directory.topic_id(to.topic, to.partition)
                if kept is not None and kept != to.topic_id:
                    log.info("%s: the folder holds a deleted topic of this name and is removed", to.topic_partition)
                    directory.delete(to.topic, to.partition)
                    continue
                if kept is None:
                    self._begin(directory, to)
                found = directory
        return found

    def _create(self, to: PartitionAssignment) -> LogDir:
        """Create the folder in the log dir with the fewest replicas; try the next log dir if that fails."""
        while (directory := self._dirs.emptiest()) is not None:
            try:
                directory.create(to.topic, to.partition)
            except OSError as error:
                self._failed(directory, error)
                continue
            with self._giving_up(directory, to):
                self._begin(directory, to)
            return directory
        self.offline[to.topic_partition] = to.topic_id
        raise PartitionError(Error.KAFKA_STORAGE_ERROR, "every log dir has failed")

    def _begin(self, directory: LogDir, to: PartitionAssignment) -> None:
        """Write the topic id into a folder without one: its creation was interrupted, or has just begun."""
        if self._rules.notes_empty_replicas:
            directory.note_empty(to.topic, to.partition)
        directory.set_topic_id(to.topic, to.partition, to.topic_id)

    def _opened(self, to: PartitionAssignment, home: LogDir, began_empty: bool) -> Replica:
        path = home.partition_path(to.topic, to.partition)
        start = home.checkpointed_starts.get((to.topic, to.partition), 0)
        opened = Log.open(path, segment_bytes=self._config.segment_bytes, start_offset=start)
        if opened.recovered_bytes_cut:
            log.warning("%s: cut %d torn bytes off the log", to.topic_partition, opened.recovered_bytes_cut)
        checkpointed = min(home.checkpointed.get((to.topic, to.partition), 0), opened.log_end_offset)
        core = Partition(
            self._broker_id,
            to.topic_partition,
            to.topic_id,
            high_watermark=max(checkpointed, opened.log_start_offset),
            lag_limit=self._config.lag_limit,
            rules=self._rules,
            began_empty=began_empty,
        )
        forget = partial(home.forget_empty, to.topic, to.partition)
        note_start = partial(home.note_start, to.topic, to.partition)
        return Replica(core, opened, self._config, partial(self._failed, home), forget, note_start)

    def remove(self, name: TopicPartition, topic_id: UUID | None) -> Replica | None:
        """Close the replica and delete its folder, also if it was not opened yet; return it if it was.

        Raises PartitionError if it is offline, or goes offline: its folder is still there.
        """
        if _is(self.offline.get(name), topic_id):
            raise PartitionError(Error.KAFKA_STORAGE_ERROR, "it is in a log dir that has failed")
        replica = self.replicas.get(name)
        if replica is not None and _is(replica.core.topic_id, topic_id):
            del self.replicas[name]
            replica.close()
            self._delete(name, replica.core.topic_id, self._homes.pop(name))
            return replica
        if replica is None:
            for home in self._dirs.holding(name.topic, name.partition):
                try:
                    kept = home.topic_id(name.topic, name.partition)
                except (OSError, LogDirError) as error:
                    self._failed(home, error)
                    raise PartitionError(Error.KAFKA_STORAGE_ERROR, str(error)) from error
                if topic_id is None or kept == topic_id:
                    # A folder whose creation was interrupted (`_begin`) has no topic id.
                    self._delete(name, kept or UNKNOWN_TOPIC, home)
        return None

    def _delete(self, name: TopicPartition, topic_id: UUID, home: LogDir) -> None:
        try:
            home.delete(name.topic, name.partition)
        except OSError as error:
            self.offline[name] = topic_id
            self._failed(home, error)
            raise PartitionError(Error.KAFKA_STORAGE_ERROR, str(error)) from error

    def checkpoint(self) -> None:
        """Write the high watermarks of every log dir, also of one without changes.

        So the loss of a log dir, or of a partition's folder in it, is noticed while no record is written to it. A log
        dir that fails is given up.
        """
        marks: dict[LogDir, dict[tuple[str, int], int]] = {directory: {} for directory in self._dirs}
        for name, home in self._homes.items():
            core = self.replicas[name].core
            if not core.keeps_checkpoint:
                marks[home][name.topic, name.partition] = core.high_watermark
        for directory, offsets in marks.items():
            try:
                directory.checkpoint(offsets)
                for topic, partition in directory.misplaced():
                    if (replica := self.replicas.get(TopicPartition(topic, partition))) is not None:
                        replica.log.verify()
            except OSError as error:
                self._failed(directory, error)

    def close(self) -> None:
        """Leave the logs so that a restart finds them whole, as far as they can be reached."""
        self.checkpoint()
        for name, replica in [*self.replicas.items()]:
            try:
                replica.save()
            except OSError as error:
                self._failed(self._homes[name], error)
        for replica in self.replicas.values():
            replica.close()

    def _failed(self, directory: LogDir, error: Exception) -> None:
        """Give up a log dir after an I/O error: its replicas are offline."""
        if not self._dirs.fail(directory, error):
            return
        names = [name for name, home in self._homes.items() if home is directory]
        log.error("the log dir %s has failed, with %d replicas: %s", directory.path, len(names), error)
        lost = []
        for name in names:
            del self._homes[name]
            replica = self.replicas.pop(name)
            self.offline[name] = replica.core.topic_id
            lost.append(replica)
        self._lost(directory, lost)


def _is(topic_id: UUID | None, asked: UUID | None) -> bool:
    """Return True if a known topic id is the requested one; a request of None matches every known id."""
    return topic_id is not None and asked in (None, topic_id)
