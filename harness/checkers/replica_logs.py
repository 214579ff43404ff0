"""The logs that nodes left in their folders, and the records in them.

A log is one partition's folder in one log directory of one process. Two processes of one broker id have a log each,
and so may two directories. A directory that failed and is still moved aside is not read: its node has lost it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fencepost.harness.checkers.checkpoints import BadCheckpoint, leader_epochs
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import value_of
from fencepost.harness.checkers.segments import NO_SESSION, Batch, Flaw, Scan, Session, UnreadableBatch, records, scan
from fencepost.harness.plan.model import NodeSpec, Plan
from fencepost.results.records.journal import Journal

RAFT_LOG = "__cluster_metadata"
"""The controllers' own log, which follows other rules."""


Entry = tuple[int, str]
"""An offset and the value of its record, as the journal has it."""
Key = tuple[int, int, int, int]
"""A batch's content and leader epoch."""


@dataclass(frozen=True)
class ReplicaLog:
    """One log, scanned. `node` is the process's name, `broker` its id; `epochs` is None if their file is unreadable."""

    node: str
    broker: int
    partition: TopicPartition
    folder: Path
    batches: tuple[Batch, ...]
    start: int
    torn: Flaw | None = None
    damage: Flaw | None = None
    topic_id: str = ""
    epochs: tuple[tuple[int, int], ...] | None = ()
    unpacked: dict[Key, tuple[Entry, ...]] = field(default_factory=dict, repr=False)
    """The records by batch, shared by the replicas of a partition: copies are unpacked once."""

    @property
    def name(self) -> str:
        """Return `node-4`, or `node-4/data-2` if the log is not in the first log directory."""
        directory = self.folder.parent.name
        return self.node if directory == "data" else f"{self.node}/{directory}"

    @property
    def end(self) -> int:
        """Return the offset that the next record would get."""
        return self.batches[-1].last + 1 if self.batches else self.start

    @cached_property
    def contents(self) -> frozenset[tuple[int, int, int]]:
        """Return the contents of its batches, which tell them from any others at their places."""
        return frozenset(batch.content for batch in self.batches)

    def read(self, batch: Batch) -> tuple[Entry, ...]:
        """Return the records of a batch. Raise UnreadableBatch."""
        key = (*batch.content, batch.leader_epoch)
        known = self.unpacked.get(key)
        if known is None:
            known = tuple([(offset, value_of(value)) for offset, value in records(batch)])
            self.unpacked[key] = known
        return known

    @cached_property
    def held(self) -> Mapping[int, tuple[str, int]]:
        """Return value and leader epoch by offset. The value of an opaque record is the checksum of its batch."""
        held: dict[int, tuple[str, int]] = {}
        for batch in self.batches:
            try:
                held.update({offset: (value, batch.leader_epoch) for offset, value in self.read(batch)})
            except UnreadableBatch:
                opaque = (f"(opaque {batch.crc:08x})", batch.leader_epoch)
                held.update(dict.fromkeys(range(batch.base, batch.last + 1), opaque))
        return held

    def find(self, offset: int, value: str) -> tuple[str, int] | None:
        """Return value and leader epoch at an offset; of an unknown offset, which is negative, those of the value."""
        return self.held.get(offset) if offset >= 0 else self._by_value.get(value)

    @cached_property
    def _by_value(self) -> Mapping[str, tuple[str, int]]:
        return {held[0]: held for held in self.held.values()}

    @cached_property
    def unreadable(self) -> str:
        """Return why its records cannot be compared with the clients' history; empty if they can."""
        try:
            for batch in self.batches:
                self.read(batch)
        except UnreadableBatch as error:
            return str(error)
        return ""


@dataclass(frozen=True)
class Replicas:
    """All logs of all nodes by partition, and the log directories that were read, by node."""

    logs: Mapping[TopicPartition, tuple[ReplicaLog, ...]]
    directories: Mapping[str, tuple[Path, ...]]
    nodes: tuple[NodeSpec, ...]

    @property
    def all(self) -> list[ReplicaLog]:
        """Return all logs, in the order of their partitions."""
        return [log for partition in sorted(self.logs) for log in self.of(partition)]

    def of(self, partition: TopicPartition) -> tuple[ReplicaLog, ...]:
        return self.logs.get(partition, ())

    def session(self, partition: TopicPartition, offset: int, value: str) -> Session | None:
        """Return the producer id and epoch of a record, from a log that holds it at this offset.

        Return None if no log does, or if its producer was not idempotent.
        """
        for log in self.of(partition):
            number = bisect_right(log.batches, offset, key=lambda batch: batch.base) - 1
            if number < 0 or (batch := log.batches[number]).producer == NO_SESSION:
                continue
            with suppress(UnreadableBatch):
                if (offset, value) in log.read(batch):
                    return batch.producer
        return None

    def complete(self, broker: int) -> bool:
        """Return whether all log directories of all processes of this id are in place: then no log of it is missing."""
        nodes = [node for node in self.nodes if node.id == broker]
        return bool(nodes) and all(len(self.directories[node.name]) == node.log_dirs for node in nodes)


NO_REPLICAS = Replicas({}, {}, ())


def missing_logs(plan: Plan, journal: Journal, nodes: Path) -> Iterator[str]:
    """Yield the brokers that ran, and whose folders are gone; all brokers if the folder of the nodes itself is gone."""
    ran = {event.node or event.id for event in journal.of("node", "started")}
    for node in plan.topology.nodes:
        if "broker" in node.roles and not (nodes / node.name).is_dir() and (node.name in ran or not nodes.is_dir()):
            yield node.name


def read_replicas(plan: Plan, nodes: Path) -> Replicas:
    """Read all logs; `nodes` holds a folder for each node. Linear in the bytes of the logs. Raise OSError."""
    brokers = tuple(node for node in plan.topology.nodes if "broker" in node.roles)
    directories = {
        node.name: tuple(path for name in log_dirs(node.log_dirs) if (path := nodes / node.name / name).is_dir())
        for node in brokers
    }
    logs: dict[TopicPartition, list[ReplicaLog]] = {}
    for node in brokers:
        for directory in directories[node.name]:
            for partition, folder in partitions(directory):
                shared: dict[Key, tuple[Entry, ...]] = logs[partition][0].unpacked if partition in logs else {}
                logs.setdefault(partition, []).append(_read(node, partition, folder, shared))
    return Replicas({at: tuple(each) for at, each in logs.items()}, directories, brokers)


def log_dirs(count: int) -> tuple[str, ...]:
    """Return the names of a node's log directories: `data`, `data-2`, `data-3`…"""
    return ("data", *(f"data-{number}" for number in range(2, count + 1)))


def partitions(directory: Path) -> Iterator[tuple[TopicPartition, Path]]:
    """Yield the partitions that have a folder in a log directory, in order. Folders to be deleted have other names."""
    for folder in sorted(directory.iterdir()):
        topic, separator, number = folder.name.rpartition("-")
        if separator and topic and number.isdecimal() and topic != RAFT_LOG and folder.is_dir():
            yield (topic, int(number)), folder


def log_end(log_dirs: Sequence[Path], topic: str, partition: int) -> int | None:
    """Return the offset after the last whole batch of a log, also while its node writes; None without a log."""
    for directory in log_dirs:
        folder = directory / f"{topic}-{partition}"
        for path in sorted(folder.glob("*.log"), reverse=True):
            try:
                batches = scan(path, verify=False).batches
            except OSError:  # it was deleted after the listing
                continue
            if batches:
                return batches[-1].last + 1
            return int(path.stem)
        if folder.is_dir():
            return 0
    return None


def _read(node: NodeSpec, partition: TopicPartition, folder: Path, shared: dict[Key, tuple[Entry, ...]]) -> ReplicaLog:
    batches: list[Batch] = []
    torn = damage = None
    segments = sorted(folder.glob("*.log"))
    for path in segments:
        found = _in_order(scan(path), batches)
        batches += found.batches
        damage = damage or found.damage
        if found.torn and path != segments[-1]:
            damage = damage or found.torn
        elif found.torn:
            torn = found.torn
        if damage:
            break
    try:
        epochs = leader_epochs(folder)
    except BadCheckpoint:
        epochs = None
    start = int(segments[0].stem) if segments and segments[0].stem.isdecimal() else 0
    return ReplicaLog(
        node.name, node.id, partition, folder, tuple(batches), start, torn, damage, _topic_id(folder), epochs, shared
    )


def _in_order(found: Scan, before: Sequence[Batch]) -> Scan:
    """Return the scan up to the first batch whose offset goes back, which is damage."""
    end = before[-1].last + 1 if before else -1
    for number, batch in enumerate(found.batches):
        if batch.base < end:
            reason = f"offset {batch.base} follows offset {end - 1}"
            return Scan(found.batches[:number], damage=Flaw(batch.path, batch.position, batch.size, reason))
        end = batch.last + 1
    return found


def _topic_id(folder: Path) -> str:
    """Return the topic id from `partition.metadata`; empty without the file, which older releases do not write."""
    try:
        lines = (folder / "partition.metadata").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.removeprefix("topic_id: ") for line in lines if line.startswith("topic_id: ")), "")
