"""The registration of a broker in ZooKeeper, read through links that no fault breaks."""

from __future__ import annotations

from fencepost.harness.clients.zookeeper.connection import ZooKeeperConnection
from fencepost.harness.network.layout import Layout, Listener
from fencepost.harness.wire.no_answer import NoAnswer

TIMEOUT_S = 1.0


def holder(layout: Layout, broker: int) -> str | None:
    """Return why a broker cannot register again: `registered`, or that no server answered. None if it can."""
    for server in layout.zookeepers:
        try:
            with ZooKeeperConnection(
                layout.probe_link(server.name, Listener.ZOOKEEPER).listen, TIMEOUT_S
            ) as connection:
                (znode,) = connection.get([f"/brokers/ids/{broker}"])
                return None if znode is None else "registered"
        except NoAnswer:
            continue
    return "unknown, because no ZooKeeper server answers"
