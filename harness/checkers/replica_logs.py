"""The logs that nodes left in their folders: which there are, and what each of them holds.

A log is one partition's folder in one log directory of one process. Two processes of one broker id have a log each,
and so may two directories. A directory that failed and still stands aside is not looked at: what it holds is lost to
its node.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from harness.checkers.checkpoints import BadCheckpoint, leader_epochs
from harness.checkers.control import TopicPartition
from harness.checkers.history import value_of
from harness.checkers.segments import NO_SESSION, Batch, Flaw, Scan, Session, Unreadable, records, scan
from harness.plan.model import NodeSpec, Plan

RAFT_LOG = "__cluster_metadata"
"""The controllers' own log, which follows other rules."""


Entry = tuple[int, str]
"""An offset and what stands there, as the journal has it."""
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
    """By batch, shared by the replicas of a partition: copies are unpacked once."""

    @property
    def name(self) -> str:
        """`node-4`, or `node-4/data-2` if it is not in the first log directory."""
        directory = self.folder.parent.name
        return self.node if directory == "data" else f"{self.node}/{directory}"

    @property
    def end(self) -> int:
        """The offset that the next record would get."""
        return self.batches[-1].last + 1 if self.batches else self.start

    @cached_property
    def contents(self) -> frozenset[tuple[int, int, int]]:
        """What tells its batches from any others at their places."""
        return frozenset(batch.content for batch in self.batches)

    def read(self, batch: Batch) -> tuple[Entry, ...]:
        """Its records. Raises Unreadable."""
        key = (*batch.content, batch.leader_epoch)
        known = self.unpacked.get(key)
        if known is None:
            known = tuple([(offset, value_of(value)) for offset, value in records(batch)])
            self.unpacked[key] = known
        return known

    @cached_property
    def held(self) -> Mapping[int, tuple[str, int]]:
        """Value and leader epoch by offset. The value of what cannot be unpacked is its batch's checksum."""
        held: dict[int, tuple[str, int]] = {}
        for batch in self.batches:
            try:
                held.update({offset: (value, batch.leader_epoch) for offset, value in self.read(batch)})
            except Unreadable:
                opaque = (f"(opaque {batch.crc:08x})", batch.leader_epoch)
                held.update(dict.fromkeys(range(batch.base, batch.last + 1), opaque))
        return held

    @cached_property
    def unreadable(self) -> str:
        """Why its records cannot be compared with what clients saw; empty if they can."""
        try:
            for batch in self.batches:
                self.read(batch)
        except Unreadable as error:
            return str(error)
        return ""


@dataclass(frozen=True)
class Replicas:
    """All logs of all nodes by partition, and the log directories that were looked into, by node."""

    logs: Mapping[TopicPartition, tuple[ReplicaLog, ...]]
    directories: Mapping[str, tuple[Path, ...]]
    nodes: tuple[NodeSpec, ...]

    def of(self, partition: TopicPartition) -> tuple[ReplicaLog, ...]:
        return self.logs.get(partition, ())

    def session(self, partition: TopicPartition, offset: int, value: str) -> Session | None:
        """Under which id and epoch a record was produced, by a log that holds it there; None if there is none, or its
        producer was not idempotent."""
        for log in self.of(partition):
            number = bisect_right(log.batches, offset, key=lambda batch: batch.base) - 1
            if number < 0 or (batch := log.batches[number]).producer == NO_SESSION:
                continue
            with suppress(Unreadable):
                if (offset, value) in log.read(batch):
                    return batch.producer
        return None

    def complete(self, broker: int) -> bool:
        """Whether all log directories of all processes of this id are in their places: what is not there is nowhere."""
        nodes = [node for node in self.nodes if node.id == broker]
        return bool(nodes) and all(len(self.directories[node.name]) == node.log_dirs for node in nodes)


def read_replicas(plan: Plan, nodes: Path) -> Replicas:
    """`nodes` holds a folder for each node. Linear in the bytes of the logs. Raises OSError."""
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
    """The names of a node's log directories: `data`, `data-2`, `data-3`…"""
    return ("data", *(f"data-{number}" for number in range(2, count + 1)))


def partitions(directory: Path) -> Iterator[tuple[TopicPartition, Path]]:
    """The partitions that have a folder here, in order. Folders on their way out have other names."""
    for folder in sorted(directory.iterdir()):
        topic, separator, number = folder.name.rpartition("-")
        if separator and topic and number.isdecimal() and topic != RAFT_LOG and folder.is_dir():
            yield (topic, int(number)), folder


def log_end(log_dirs: Sequence[Path], topic: str, partition: int) -> int | None:
    """The offset after the last whole batch of a partition's log, also while its node writes; None without a log."""
    for directory in log_dirs:
        folder = directory / f"{topic}-{partition}"
        for path in sorted(folder.glob("*.log"), reverse=True):
            try:
                batches = scan(path, verify=False).batches
            except OSError:  # it went away between two looks
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
    """Offsets only grow; a batch that goes back is damage."""
    end = before[-1].last + 1 if before else -1
    for number, batch in enumerate(found.batches):
        if batch.base < end:
            reason = f"offset {batch.base} follows offset {end - 1}"
            return Scan(found.batches[:number], damage=Flaw(batch.path, batch.position, batch.size, reason))
        end = batch.last + 1
    return found


def _topic_id(folder: Path) -> str:
    """As `partition.metadata` has it; empty where releases write none."""
    try:
        lines = (folder / "partition.metadata").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.removeprefix("topic_id: ") for line in lines if line.startswith("topic_id: ")), "")
