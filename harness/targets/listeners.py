"""The listeners of a node under Kafka's configuration names, for all targets."""

from __future__ import annotations

from fencepost.harness.network.addresses import CLIENT_PORT, PEER_PORT
from fencepost.harness.network.layout import MAIN_SITE, SITE_PREFIX, Layout, Listener, Node

BROKER_SECURITY = "INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT"


def listeners(node: Node) -> str:
    """Return the listeners of a node, at its own address."""
    controller = f"CONTROLLER://{node.address}:{node.port(Listener.CONTROLLER)}"
    if not node.is_broker:
        return controller
    internal = "" if node.one_listener else f"INTERNAL://{node.address}:{PEER_PORT},"
    broker = f"{internal}CLIENT://{node.address}:{CLIENT_PORT}"
    return f"{controller},{broker}" if node.is_controller else broker


def advertised_listeners(node: Node, layout: Layout) -> str:
    """Return the advertised listeners of a node.

    For peers it is the node's name, which each peer resolves to its own link; for clients the address of the link from
    the main site.
    """
    controller = f"CONTROLLER://{node.name}:{node.port(Listener.CONTROLLER)}"
    if not node.is_broker:
        return controller
    client = layout.link(SITE_PREFIX + MAIN_SITE, node.name).listen
    internal = "" if node.one_listener else f"INTERNAL://{node.name}:{PEER_PORT},"
    broker = f"{internal}CLIENT://{client}"
    return f"{controller},{broker}" if node.is_controller else broker


def voters(layout: Layout) -> str:
    """Return the voters that begin the cluster, `1@node-1:9090,…`."""
    return ",".join(map(voter, layout.first_voters))


def voter(node: Node) -> str:
    """Return a voter as Kafka's configuration names it, `1@node-1:9090`."""
    return f"{node.quorum_id}@{node.name}:{node.port(Listener.CONTROLLER)}"


def first_controllers(layout: Layout) -> str:
    """Return the addresses of the voters that begin the cluster, `node-1:9090,…`."""
    return ",".join(f"{node.name}:{node.port(Listener.CONTROLLER)}" for node in layout.first_voters)
