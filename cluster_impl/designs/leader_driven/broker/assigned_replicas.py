"""Reading which replicas ZooKeeper assigns to a broker ("get replica info from ZK and compute AR")."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.cluster_impl.coordination.steps import Children, Found, Get, Names, Steps, run
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AssignedReplicas:
    """The replicas of a broker.

    `own` are those that /replicas or /partitions_reassigned assigns to it. `unknown` are partitions whose znodes cannot
    be read.
    """

    own: frozenset[TopicPartition]
    unknown: frozenset[TopicPartition]


def read_assigned_replicas(broker_id: int) -> Steps[AssignedReplicas]:
    """Read the replicas of the broker.

    RAR is read before AR, so a replica that moves from one to the other meanwhile is found in at least one.
    """
    reassigned = yield from _partitions_under(znodes.REASSIGNED)
    assigned = yield from _partitions_under(znodes.TOPICS)
    paths = [*map(znodes.reassigned, reassigned), *map(znodes.replicas, assigned)]
    found = yield from run([Get(path) for path in paths])
    own, unknown = set(), set()
    for number, (at, znode) in enumerate(zip([*reassigned, *assigned], found, strict=True)):
        if not isinstance(znode, Found):
            continue
        read = znodes.read_reassigned if number < len(reassigned) else znodes.read_replicas
        try:
            if broker_id in read(at, znode.data):
                own.add(at)
        except MalformedZnode as error:
            log.error("%s: the assigned brokers are unknown: %s", at, error)
            unknown.add(at)
    return AssignedReplicas(frozenset(own), frozenset(unknown - own))


def read_in_sync(broker_id: int, among: Sequence[TopicPartition]) -> Steps[frozenset[TopicPartition]]:
    """Return the partitions whose ISR names the broker or cannot be read.

    The broker's log may be the only one with all acknowledged records of these.
    """
    found = yield from run([Get(znodes.isr(at)) for at in among])
    in_sync = set()
    for at, znode in zip(among, found, strict=True):
        if not isinstance(znode, Found):
            continue
        try:
            if broker_id in znodes.read_isr(at, znode.data, znode.stat.version).isr:
                in_sync.add(at)
        except MalformedZnode as error:
            log.error("%s: the in-sync replicas are unknown, so this broker counts as one: %s", at, error)
            in_sync.add(at)
    return frozenset(in_sync)


def _partitions_under(path: str) -> Steps[Sequence[TopicPartition]]:
    [topics] = yield [Children(path)]
    names = sorted(topics.names) if isinstance(topics, Names) else []
    found = yield from run([Children(f"{path}/{name}") for name in names])
    return [
        TopicPartition(name, int(index))
        for name, children in zip(names, found, strict=True)
        if isinstance(children, Names)
        for index in sorted(children.names)
        if index.isdecimal()
    ]
