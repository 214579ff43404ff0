"""The id of the cluster, which is in ZooKeeper: the first node to come makes it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from cluster_impl.coordination.errors import ConnectionLost, NodeExists, NoNode, SessionExpired
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.on_zookeeper import znodes


async def found_cluster(zookeeper: ZooKeeper, roots: Sequence[str]) -> str:
    """Make what is missing of the tree that the cluster stands on, each after its parent; returns the cluster's id.
    Raises MalformedZnode, a ValueError."""
    while True:
        try:
            for path in roots:
                await _create(zookeeper, path, b"")
            try:
                return znodes.read_cluster_id((await zookeeper.get(znodes.CLUSTER_ID)).data)
            except NoNode:
                await _create(zookeeper, znodes.CLUSTER_ID, znodes.write_cluster_id(new_cluster_id()))
        except (ConnectionLost, SessionExpired):
            await zookeeper.until_connected()


async def _create(zookeeper: ZooKeeper, path: str, data: bytes) -> None:
    try:
        await zookeeper.create(path, data)
    except NodeExists:
        pass


def new_cluster_id() -> str:
    """Kafka's form. One that begins with a dash is taken for an option by Kafka's tools."""
    while True:
        text = znodes.write_uuid(uuid4())
        if not text.startswith("-"):
            return text
