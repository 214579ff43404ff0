"""Reads the whole tree of a cluster: as of one transaction, if the cluster leaves the time for that.

Of a huge topic the states of a sample of its partitions are read (`plan/sampled.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TypeVar

from fencepost.harness.clients.metadata.image import Image
from fencepost.harness.clients.zookeeper import tree
from fencepost.harness.clients.zookeeper.connection import ZooKeeperConnection
from fencepost.harness.clients.zookeeper.tree import MalformedZnode, Tree
from fencepost.harness.plan.sampled import sampled

ATTEMPTS = 5
"""How often a tree that changed while it was read is read anew before it is taken as it came."""

Decoded = TypeVar("Decoded")


def read_tree(connection: ZooKeeperConnection, wanted: Collection[str]) -> Tree:
    """Kafka's znodes, and those at the `wanted` paths. NoAnswer if the server stops answering."""
    for _ in range(ATTEMPTS):
        found = _read(connection, wanted)
        if found.whole:
            break
    return found


def _read(connection: ZooKeeperConnection, wanted: Collection[str]) -> Tree:
    zxid = connection.newest()
    ids, names, deletions = connection.children([tree.BROKERS, tree.TOPICS, tree.DELETIONS])
    paths = [
        *(tree.CONTROLLER, tree.CONTROLLER_EPOCH),
        *(f"{tree.BROKERS}/{id}" for id in ids),
        *(f"{tree.TOPICS}/{name}" for name in names),
        *tree.ADMIN_REQUESTS,
        *wanted,
    ]
    znodes = dict(zip(paths, connection.get(paths), strict=True))
    decoder = _Decoder()
    brokers = [
        broker
        for id in ids
        if (znode := znodes[path := f"{tree.BROKERS}/{id}"]) is not None
        and (broker := decoder.decode(path, partial(tree.decode_broker, id, znode))) is not None
    ]
    topics = [
        topic
        for name in names
        if (znode := znodes[path := f"{tree.TOPICS}/{name}"]) is not None
        and (topic := decoder.decode(path, partial(tree.decode_topic, name, znode))) is not None
    ]
    states = [
        (topic, number, f"{tree.TOPICS}/{topic.name}/partitions/{number}/state")
        for topic in topics
        for number in sampled(sorted(topic.assignment))
    ]
    found = connection.get([path for _, _, path in states]) if states else []
    partitions = [
        partition
        for (topic, number, path), state in zip(states, found, strict=True)
        if (partition := decoder.decode(path, partial(tree.decode_partition, topic, number, state))) is not None
    ]
    claim = decoder.decode(
        tree.CONTROLLER, partial(tree.decode_claim, znodes[tree.CONTROLLER], znodes[tree.CONTROLLER_EPOCH])
    )
    return Tree(
        zxid=zxid,
        image=Image(
            {broker.id: broker for broker in brokers},
            {partition.name: partition for partition in partitions},
            {topic.id: topic.name for topic in topics if topic.id is not None},
            zxid,
        ),
        claim=claim,
        pending=(
            *(f"{tree.DELETIONS}/{name}" for name in deletions),
            *(path for path in tree.ADMIN_REQUESTS if znodes[path] is not None),
        ),
        znodes={path: znodes[path] for path in wanted},
        whole=connection.newest() == zxid,
        malformed=tuple(decoder.malformed),
    )


class _Decoder:
    """Collects the paths whose content is not Kafka's, in place of stopping at the first."""

    def __init__(self) -> None:
        self.malformed: list[str] = []

    def decode(self, path: str, decode: Callable[[], Decoded]) -> Decoded | None:
        try:
            return decode()
        except MalformedZnode:
            self.malformed.append(path)
            return None
