"""Whether ZooKeeper has a broker's registration: read past every link that a fault may break."""

from __future__ import annotations

from harness.clients.framed import NoAnswer
from harness.clients.zookeeper.connection import ZooKeeperConnection
from harness.network.layout import Layout, Listener

PATIENCE = 1.0


def holder(layout: Layout, broker: int) -> str | None:
    """What keeps a broker from registering anew: `registered`, or that nobody could be asked. None if nothing does."""
    for server in layout.zookeepers:
        try:
            with ZooKeeperConnection(layout.probe_link(server.name, Listener.ZOOKEEPER).listen, PATIENCE) as connection:
                (znode,) = connection.get([f"/brokers/ids/{broker}"])
                return None if znode is None else "registered"
        except NoAnswer:
            continue
    return "in its keeping as far as is known, since no server of it answers"
