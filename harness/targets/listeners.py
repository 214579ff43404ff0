"""The listeners of a node under Kafka's configuration names, for all targets."""

from __future__ import annotations

from fencepost.harness.network.addresses import CLIENT_PORT, PEER_PORT
from fencepost.harness.network.layout import MAIN_SITE, SITE_PREFIX, Layout, Node

SECURITY = "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT"
BROKER_SECURITY = "INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT"


def listeners(node: Node) -> str:
    """Return the listeners of a node, at its own address."""
    if not node.is_broker:
        return f"CONTROLLER://{node.address}:{PEER_PORT}"
    return f"INTERNAL://{node.address}:{PEER_PORT},CLIENT://{node.address}:{CLIENT_PORT}"


def advertised_listeners(node: Node, layout: Layout) -> str:
    """Return the advertised listeners of a node.

    For peers it is the node's name, which each peer resolves to its own link; for clients the address of the link from
    the main site.
    """
    if not node.is_broker:
        return f"CONTROLLER://{node.name}:{PEER_PORT}"
    return f"INTERNAL://{node.name}:{PEER_PORT},CLIENT://{layout.link(SITE_PREFIX + MAIN_SITE, node.name).listen}"


def voters(layout: Layout) -> str:
    """Return the voters, `1@node-1:9090,…`. A duplicate is not a voter: it uses the id of one."""
    controllers = (node for node in layout.controllers if node.duplicate_of is None)
    return ",".join(f"{node.id}@{node.name}:{PEER_PORT}" for node in controllers)
