"""The clusters of each design whose listeners are asked, with all their listeners."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fencepost.cluster_impl.wire.registry import (
    KAFKA,
    LEADER_DRIVEN_BROKER,
    QUORUM_BROKER,
    QUORUM_CLIENTS,
    QUORUM_CONTROLLER,
    ZK_BROKER,
)
from tests.cluster_impl import leader_driven_processes, processes, zk_processes
from tests.cluster_impl.processes import address
from tests.fuzz.storm import Listener

PEERS, CLIENTS = 9090, 9092
BROKERS = {
    "quorum": (QUORUM_BROKER, QUORUM_CLIENTS),
    "zk-controller": (ZK_BROKER, KAFKA),
    "leader-driven": (LEADER_DRIVEN_BROKER, LEADER_DRIVEN_BROKER),
}
"""The APIs of brokers of each design, between nodes and with clients."""


@contextmanager
def listeners(design: str, folder: Path) -> Iterator[list[Listener]]:
    """Start a cluster of the design; yield a listener of each kind."""
    internal, clients = BROKERS[design]
    found = [(4, "INTERNAL", PEERS, internal), (4, "CLIENT", CLIENTS, clients)]
    if design == "quorum":
        with processes.running(folder) as quorum:
            active = quorum.active_controller()
            found.append((active, "CONTROLLER", PEERS, QUORUM_CONTROLLER))
            pids = {node: process.pid for node, process in quorum.nodes.items()}
            yield [Listener(name, address(node), port, apis, pids[node]) for node, name, port, apis in found]
        return
    running = zk_processes.running(folder, "2.6") if design == "zk-controller" else None
    with running or leader_driven_processes.running(folder) as cluster:
        pid = cluster.nodes[4].pid
        yield [Listener(name, address(node), port, apis, pid) for node, name, port, apis in found]
