"""The listeners of a node, in Kafka's configuration names: shared by all targets that use them."""

from __future__ import annotations

from harness.network.addresses import CLIENT_PORT, PEER_PORT
from harness.network.layout import MAIN_SITE, SITE_PREFIX, Layout, Node

SECURITY = "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT"
BROKER_SECURITY = "INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT"


def listeners(node: Node) -> str:
    """Where a node listens: its own address."""
    if not node.is_broker:
        return f"CONTROLLER://{node.address}:{PEER_PORT}"
    return f"INTERNAL://{node.address}:{PEER_PORT},CLIENT://{node.address}:{CLIENT_PORT}"


def advertised_listeners(node: Node, layout: Layout) -> str:
    """What a node tells others: to peers its name, which each resolves to its own link; to clients the main site's
    address of the link to it."""
    if not node.is_broker:
        return f"CONTROLLER://{node.name}:{PEER_PORT}"
    return f"INTERNAL://{node.name}:{PEER_PORT},CLIENT://{layout.link(SITE_PREFIX + MAIN_SITE, node.name).listen}"


def voters(layout: Layout) -> str:
    """`1@node-1:9090,…` of the controllers. A duplicate is no voter: it claims the id of one."""
    controllers = (node for node in layout.controllers if node.duplicate_of is None)
    return ",".join(f"{node.id}@{node.name}:{PEER_PORT}" for node in controllers)
