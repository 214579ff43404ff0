"""The id of the cluster. It is stored in ZooKeeper; the first node that starts creates it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NodeExistsError, NoNodeError, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper import znodes


async def found_cluster(zookeeper: ZooKeeper, roots: Sequence[str]) -> str:
    """Create the missing `roots`, each after its parent; return the cluster's id.

    Raises MalformedZnode, a ValueError.
    """
    while True:
        try:
            for path in roots:
                await _create(zookeeper, path, b"")
            try:
                return znodes.read_cluster_id((await zookeeper.get(znodes.CLUSTER_ID)).data)
            except NoNodeError:
                await _create(zookeeper, znodes.CLUSTER_ID, znodes.write_cluster_id(new_cluster_id()))
        except (ConnectionLost, SessionExpired):
            await zookeeper.until_connected()


async def _create(zookeeper: ZooKeeper, path: str, data: bytes) -> None:
    try:
        await zookeeper.create(path, data)
    except NodeExistsError:
        pass


def new_cluster_id() -> str:
    """Return an id in Kafka's form. None begins with a dash, which Kafka's tools would take for an option."""
    while True:
        text = znodes.write_uuid(uuid4())
        if not text.startswith("-"):
            return text
