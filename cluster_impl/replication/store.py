"""The replicas that this broker has, and the log dirs that they are in.

Opens a replica where its folder is, or makes one; takes an I/O error for the end of the whole log dir; writes the high
watermarks down. Who leads and who follows is decided elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from uuid import UUID

from cluster_impl.replication.config import ReplicationConfig
from cluster_impl.replication.control_plane import PartitionAssignment, TopicPartition
from cluster_impl.replication.partition import Partition
from cluster_impl.replication.replica import Replica
from cluster_impl.replication.validation import Refused
from cluster_impl.storage.directory import LogDir, LogDirError
from cluster_impl.storage.log import Log
from cluster_impl.storage.log_dirs import LogDirs
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

UNKNOWN_TOPIC = UUID(int=0)
StorageListener = Callable[[LogDir, Sequence[Replica]], None]


class ReplicaStore:
    """`lost` is called when a log dir has failed, once for each, with the replicas in it, which are here no longer.

    `replicas` are those that can be used; `offline` are those known to be in a failed log dir, by their topic's id.
    """

    def __init__(self, broker_id: int, config: ReplicationConfig, dirs: LogDirs, lost: StorageListener) -> None:
        self.replicas: dict[TopicPartition, Replica] = {}
        self.offline: dict[TopicPartition, UUID] = {}
        self._broker_id = broker_id
        self._config = config
        self._dirs = dirs
        self._lost = lost
        self._homes: dict[TopicPartition, LogDir] = {}

    @property
    def all_failed(self) -> bool:
        return not self._dirs.live

    def find(self, name: TopicPartition) -> Replica:
        """Raises Refused: KAFKA_STORAGE_ERROR for a replica that is offline, else UNKNOWN_TOPIC_OR_PARTITION."""
        replica = self.replicas.get(name)
        if replica is None:
            offline = name in self.offline
            raise Refused(Error.KAFKA_STORAGE_ERROR if offline else Error.UNKNOWN_TOPIC_OR_PARTITION)
        return replica

    def open(self, to: PartitionAssignment) -> Replica:
        """The replica as its folder has it; a new one if there is none. Raises Refused if it is offline."""
        name = to.topic_partition
        if self.offline.get(name) == to.topic_id:
            raise Refused(Error.KAFKA_STORAGE_ERROR, "it is in a log dir that has failed")
        # Of a failed log dir nobody knows what it holds. The replica may be there, in sync, even the last one in sync:
        # begun anew, empty, in another folder, it could be elected and take from the others what they have (KIP-112).
        may_be_lost = bool(self._dirs.offline) and not to.is_new
        home = self._home(to)
        is_new = home is None
        if home is None:
            if may_be_lost:
                self.offline[name] = to.topic_id
                raise Refused(Error.KAFKA_STORAGE_ERROR, "it may be in a log dir that is offline")
            home = self._create(to)
        with self._giving_up(home, to):
            began_empty = is_new or (self._config.notes_empty_replicas and home.noted_empty(to.topic, to.partition))
            replica = self._opened(to, home, began_empty)
        self.offline.pop(name, None)
        self.replicas[name], self._homes[name] = replica, home
        return replica

    @contextmanager
    def _giving_up(self, directory: LogDir, to: PartitionAssignment) -> Iterator[None]:
        """An error of the log dir makes the replica one of those that are offline with it. Raises Refused."""
        try:
            yield
        except (OSError, LogDirError) as error:
            self.offline[to.topic_partition] = to.topic_id
            self._failed(directory, error)
            raise Refused(Error.KAFKA_STORAGE_ERROR, str(error)) from error

    def _home(self, to: PartitionAssignment) -> LogDir | None:
        """The log dir with the replica's folder. Folders of earlier topics of the name are removed on the way."""
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
        """A folder in the log dir with the fewest; where none can be made, nothing was, so others are tried."""
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
        raise Refused(Error.KAFKA_STORAGE_ERROR, "every log dir has failed")

    def _begin(self, directory: LogDir, to: PartitionAssignment) -> None:
        """Of a folder without a topic nobody knows more than that it may have been made a moment ago."""
        if self._config.notes_empty_replicas:
            directory.note_empty(to.topic, to.partition)
        directory.set_topic_id(to.topic, to.partition, to.topic_id)

    def _opened(self, to: PartitionAssignment, home: LogDir, began_empty: bool) -> Replica:
        path = home.partition_path(to.topic, to.partition)
        opened = Log.open(path, segment_bytes=self._config.segment_bytes)
        if opened.recovered_bytes_cut:
            log.warning("%s: cut %d torn bytes off the log", to.topic_partition, opened.recovered_bytes_cut)
        core = Partition(
            self._broker_id,
            to.topic_partition,
            to.topic_id,
            high_watermark=min(home.checkpointed.get((to.topic, to.partition), 0), opened.log_end_offset),
            lag_limit=self._config.lag_limit,
            rules=self._config.rules,
            began_empty=began_empty,
        )
        forget = partial(home.forget_empty, to.topic, to.partition)
        return Replica(core, opened, self._config, partial(self._failed, home), forget)

    def remove(self, name: TopicPartition, topic_id: UUID | None) -> Replica | None:
        """Close the replica and delete its folder, also where it was not opened yet; returns it if it was.

        Raises Refused if it is offline, or becomes that: its folder is still there.
        """
        if _is(self.offline.get(name), topic_id):
            raise Refused(Error.KAFKA_STORAGE_ERROR, "it is in a log dir that has failed")
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
                    raise Refused(Error.KAFKA_STORAGE_ERROR, str(error)) from error
                if topic_id is None or kept == topic_id:
                    # One whose making was interrupted (`_begin`) does not say of which topic it is.
                    self._delete(name, kept or UNKNOWN_TOPIC, home)
        return None

    def _delete(self, name: TopicPartition, topic_id: UUID, home: LogDir) -> None:
        try:
            home.delete(name.topic, name.partition)
        except OSError as error:
            self.offline[name] = topic_id
            self._failed(home, error)
            raise Refused(Error.KAFKA_STORAGE_ERROR, str(error)) from error

    def checkpoint(self) -> None:
        """Write the high watermarks of every log dir, also of one in which nothing has changed.

        That is how the loss of a log dir is noticed while nobody writes to it, and the loss of a partition's folder in
        it. What fails is given up.
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
                replica.log.flush()
            except OSError as error:
                self._failed(self._homes[name], error)
        for replica in self.replicas.values():
            replica.close()

    def _failed(self, directory: LogDir, error: Exception) -> None:
        """An I/O error: the log dir is not touched any more, and what is in it is offline."""
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


def _is(known: UUID | None, asked: UUID | None) -> bool:
    """Whether a topic that is known by its id is the one that is asked for, which may be any."""
    return known is not None and asked in (None, known)
