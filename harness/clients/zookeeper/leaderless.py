"""The tree of a cluster without controllers, kept up to date by what ZooKeeper tells of it, and topics put into it.

One recursive watch says which paths changed, and only these are read anew: thousands of partitions cost no more than
what happens to them. Source of the paths: Kafka's replication design V2, and the cluster's own additions to it.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from fencepost.harness.calls import in_time, named
from fencepost.harness.clients.metadata.image import BrokerEntry, Image, PartitionEntry
from fencepost.harness.clients.zookeeper.connection import ChangeKind, Znode, ZooKeeperConnection
from fencepost.harness.clients.zookeeper.tree import (
    MalformedZnode,
    Tree,
    advertised,
    integer,
    json_list,
    json_object,
    number,
)
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.plan.model import TopicSpec

ROOT = "/brokers"
BROKERS, TOPICS, MOVES, QUEUES, LOCKS = (
    f"{ROOT}/{name}" for name in ("ids", "topics", "partitions_reassigned", "state", "admin")
)
PARTITION = re.compile(rf"(?:{TOPICS}|{MOVES})/([^/]+)/([0-9]+)(?:/(?:replicas|leader|ISR))?")
QUEUED = re.compile(rf"{QUEUES}/([0-9]+)/[^/]+")
ATTEMPTS = 5
"""How often what changed while it was read is read anew before it is taken as it came."""
CONNECT_WITHIN = 10.0
AT_ONCE = 1000
"""Znodes in one transaction: far below what a server takes in one message."""


def partition_paths(topic: str, partition: int) -> tuple[str, str, str, str]:
    """Return the paths of the assignment, the leader, the ISR, and the reassignment."""
    at = f"{TOPICS}/{topic}/{partition}"
    return f"{at}/replicas", f"{at}/leader", f"{at}/ISR", f"{MOVES}/{topic}/{partition}"


class WatchedTree:
    """Called with a connection, it gives the tree as it is there: the whole of it at first, then what changed."""

    def __init__(self) -> None:
        self._connection: ZooKeeperConnection | None = None
        self._known = _TreeCache()

    def __call__(self, connection: ZooKeeperConnection, wanted: Collection[str]) -> Tree:
        if connection is not self._connection:
            connection.watch_below(ROOT)
            self._known = _TreeCache()
            self._known.read_all(connection)
            self._connection = connection
        paths = list(wanted)
        for _ in range(ATTEMPTS):
            self._known.read_changes(connection)
            znodes = dict(zip(paths, connection.get(paths), strict=True))
            zxid = connection.newest()
            if not connection.changes:
                break
        return self._known.tree(zxid, znodes, whole=not connection.changes)


@dataclass
class _TreeCache:
    """The present content of the tree, by broker, topic and partition."""

    brokers: dict[int, BrokerEntry] = field(default_factory=dict)
    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    partitions: dict[str, PartitionEntry] = field(default_factory=dict)
    moves: set[str] = field(default_factory=set)
    locks: set[str] = field(default_factory=set)
    queues: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    malformed: set[str] = field(default_factory=set)

    def read_all(self, connection: ZooKeeperConnection) -> None:
        """Everything that there is. What changes meanwhile is among the connection's changes."""
        ids, topics, moved, queues, locks = connection.children([BROKERS, TOPICS, MOVES, QUEUES, LOCKS])
        self.locks.update(f"{LOCKS}/{name}" for name in locks)
        for queue, requests in zip(queues, connection.children([f"{QUEUES}/{id}" for id in queues]), strict=True):
            self.queues[int(queue)].update(requests)
        self._read_brokers(connection, ids)
        self._read_topics(connection, topics)
        partitions = {
            (name, int(each))
            for folder, names in ((TOPICS, topics), (MOVES, moved))
            for name, children in zip(names, connection.children([f"{folder}/{name}" for name in names]), strict=True)
            for each in children
            if each.isdigit()
        }
        self._read_partitions(connection, partitions)

    def read_changes(self, connection: ZooKeeperConnection) -> None:
        changes, connection.changes = connection.changes, []
        brokers: set[str] = set()
        topics: set[str] = set()
        partitions: set[tuple[str, int]] = set()
        for kind, path in changes:
            folder, _, name = path.rpartition("/")
            if found := PARTITION.fullmatch(path):
                partitions.add((found[1], int(found[2])))
            elif queued := QUEUED.fullmatch(path):
                queue = self.queues[int(queued[1])]
                queue.add(name) if kind is ChangeKind.CREATED else queue.discard(name)
            elif folder == BROKERS:
                brokers.add(name)
            elif folder == TOPICS:
                topics.add(name)
            elif folder == LOCKS:
                self.locks.add(path) if kind is ChangeKind.CREATED else self.locks.discard(path)
        self._read_brokers(connection, sorted(brokers))
        self._read_topics(connection, sorted(topics))
        self._read_partitions(connection, partitions)

    def tree(self, zxid: int, znodes: Mapping[str, Znode | None], whole: bool) -> Tree:
        waiting = (f"{QUEUES}/{id}/{min(names)}" for id, names in self.queues.items() if names and id in self.brokers)
        return Tree(
            zxid=zxid,
            image=Image(dict(self.brokers), dict(self.partitions), dict(self.topics), zxid),
            pending=(*sorted(self.moves), *sorted(self.locks), *waiting),
            znodes=znodes,
            whole=whole,
            malformed=tuple(sorted(self.malformed)),
            queues={id: len(names) for id, names in self.queues.items()},
        )

    def _read_brokers(self, connection: ZooKeeperConnection, names: Collection[str]) -> None:
        for name, znode in zip(names, connection.get([f"{BROKERS}/{name}" for name in names]), strict=True):
            self.malformed.discard(path := f"{BROKERS}/{name}")
            self.brokers.pop(int(name), None)
            try:
                if znode is not None:
                    self.brokers[int(name)] = decode_broker(int(name), znode)
            except MalformedZnode:
                self.malformed.add(path)

    def _read_topics(self, connection: ZooKeeperConnection, names: Collection[str]) -> None:
        if not names:
            return
        gone = set(names)
        self.topics = {id: name for id, name in self.topics.items() if name not in gone}
        for name, znode in zip(names, connection.get([f"{TOPICS}/{name}" for name in names]), strict=True):
            if znode is not None:
                self.topics[topic_id(name, znode)] = name

    def _read_partitions(self, connection: ZooKeeperConnection, partitions: Iterable[tuple[str, int]]) -> None:
        """Four znodes of each, all asked for at once."""
        chosen = sorted(partitions)
        found = iter(connection.get([path for at in chosen for path in partition_paths(*at)]))
        for (topic, partition), znodes in zip(chosen, zip(found, found, found, found, strict=True), strict=True):
            name, paths = f"{topic}-{partition}", partition_paths(topic, partition)
            self.malformed.difference_update(paths)
            moved = self.moves.add if znodes[-1] is not None else self.moves.discard
            moved(paths[-1])
            try:
                entry = decode_partition(topic, partition, *znodes)
            except MalformedZnode:
                entry = None
                self.malformed.add(paths[0])
            if entry is None:
                self.partitions.pop(name, None)
            elif entry != self.partitions.get(name):
                self.partitions[name] = entry


def topic_id(name: str, znode: Znode) -> uuid.UUID:
    """Eight bytes of the name's SHA-256, then the transaction that created the znode."""
    return uuid.UUID(bytes=hashlib.sha256(name.encode()).digest()[:8] + struct.pack(">q", znode.czxid))


def decode_broker(id: int, znode: Znode) -> BrokerEntry:
    """Decode a registered broker; without a controller each registered broker is active."""
    endpoints = json_object(znode).get("endpoints", ())
    listed = tuple(advertised(str(endpoint), {}) for endpoint in endpoints)
    return BrokerEntry(id, znode.czxid, "active", znode.mzxid, endpoints=listed, owner=znode.owner)


def decode_partition(
    topic: str,
    partition: int,
    replicas: Znode | None,
    leader: Znode | None,
    in_sync: Znode | None,
    moving: Znode | None,
) -> PartitionEntry | None:
    """Return the entry; None while no broker is assigned or to be assigned.

    A leader counts from when its epoch stands in both its own znode and the ISR's: before, it has not used it. Nor does
    one whose ISR is empty: it is the first of a new partition, and decides about the ISR before it serves anybody.
    """
    assigned = None if replicas is None else json_list(replicas)
    target = None if moving is None else json_list(moving)
    if not assigned and not target:
        return None
    now, then = assigned or (), target or ()
    state = {} if in_sync is None else json_object(in_sync)
    won = {} if leader is None else json_object(leader)
    isr = json_list_of(state, "isr")
    epoch = integer(state, "epoch") if state else -1
    leads = bool(won and isr) and integer(won, "epoch") == epoch
    return PartitionEntry(
        topic=topic,
        partition=partition,
        replicas=(*now, *(each for each in then if each not in now)),
        isr=isr,
        leader=integer(won, "broker") if leads else -1,
        leader_epoch=epoch,
        version=-1 if in_sync is None else in_sync.version,
        offset=max(each.mzxid for each in (replicas, leader, in_sync, moving) if each is not None),
        adding=tuple(each for each in then if each not in now) if now else (),
        removing=tuple(each for each in now if each not in then) if then else (),
    )


def json_list_of(state: Mapping[str, object], key: str) -> tuple[int, ...]:
    found = state.get(key, ())
    if not isinstance(found, list | tuple):
        raise MalformedZnode(key)
    return tuple(number(str(each)) for each in found)


def prepare_topics(topics: Collection[TopicSpec], hosts: str, within: float) -> None:
    """Put topics into the tree as an administrator's command does, before any broker runs.

    InfrastructureError if ZooKeeper does not take them, CallHangs if the client does not return in that time.
    """
    in_time(f"preparing {len(topics)} topics in ZooKeeper", within, partial(_create_all, topics, hosts))


def _create_all(topics: Collection[TopicSpec], hosts: str) -> None:
    client = named(KazooClient(hosts=hosts, timeout=CONNECT_WITHIN), "the harness")
    try:
        client.start(CONNECT_WITHIN)
        client.ensure_path(TOPICS)
        znodes = [znode for topic in topics for znode in _topic_znodes(topic)]
        for begin in range(0, len(znodes), AT_ONCE):
            transaction = client.transaction()
            for path, data in znodes[begin : begin + AT_ONCE]:
                transaction.create(path, data)
            for result in transaction.commit():
                if isinstance(result, Exception):
                    raise result
    except (KazooException, KazooTimeoutError) as error:
        raise InfrastructureError(f"ZooKeeper did not take {len(topics)} prepared topics: {error!r}") from error
    finally:
        client.stop()
        client.close()


def _topic_znodes(topic: TopicSpec) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the data of each znode, after its parent."""
    yield f"{TOPICS}/{topic.name}", json.dumps({"config": topic.config}, separators=(",", ":")).encode()
    for partition, replicas in enumerate(topic.assignments):
        assigned, *_ = partition_paths(topic.name, partition)
        yield assigned.rpartition("/")[0], b""
        yield assigned, json.dumps(list(replicas), separators=(",", ":")).encode()
