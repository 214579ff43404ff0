"""ZooKeeper servers as nodes of a cluster, standalone or as an ensemble."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path

from fencepost.harness.cache_folder import cache_folder
from fencepost.harness.clients.views import Answer
from fencepost.harness.clients.zookeeper.connection import ZooKeeperConnection
from fencepost.harness.clients.zookeeper.server import ask_server
from fencepost.harness.network.addresses import ELECTION_PORT, QUORUM_PORT, ZOOKEEPER_PORT, Endpoint
from fencepost.harness.network.layout import Layout, Listener, Node
from fencepost.harness.processes.command import Command
from fencepost.harness.targets import jvm
from fencepost.harness.targets.archives import CLASSES, free_port, prepared, recording, running
from fencepost.harness.targets.target import Installation, write_properties
from fencepost.harness.targets.zookeeper_jars import ZooKeeperJars
from fencepost.harness.wire.no_answer import NoAnswer

MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
FLAGS = (
    "-Xmx64m",
    "-Dzookeeper.admin.enableServer=false",
    "-Dzookeeper.jmx.log4j.disable=true",
    "-Dzookeeper.preAllocSize=1024",
    # A killed process loses no data that the kernel has, so fsync is not needed.
    "-Dzookeeper.forceSync=no",
)
TICKS_OF_A_SESSION = 8
"""Ticks in a session timeout. A session ends up to one tick late."""
TICK_MS = (100, 500)
CATCH_UP_MS, SILENT_MS = 2500, 2000
"""Time for a server to catch up with its leader, and time for which either may be silent."""
TIMEOUT_S = 1.0


class ZooKeeperServers:
    """Configures and starts the ZooKeeper servers of a target."""

    def __init__(self, jars: ZooKeeperJars) -> None:
        self._jars = jars

    def prepare(self) -> None:
        """Record the classes of a server, unless the cache has them."""
        prepared(self._prepared(), f"ZooKeeper ({self._jars.origin})", self._record)

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        """Return zoo.cfg. It names every server as its peers reach it; a server binds its own address only."""
        lowest, highest = TICK_MS
        tick = max(lowest, min(highest, installation.timing.session_ms // TICKS_OF_A_SESSION))
        properties = {
            "tickTime": str(tick),
            "initLimit": str(ceil(CATCH_UP_MS / tick)),
            "syncLimit": str(ceil(SILENT_MS / tick)),
            "dataDir": str(installation.data(node)),
            "clientPortAddress": node.address,
            "clientPort": str(ZOOKEEPER_PORT),
            "minSessionTimeout": str(2 * tick),
            "maxSessionTimeout": "60000",
            "maxClientCnxns": "0",
            "4lw.commands.whitelist": "*",
            "admin.enableServer": "false",
            "quorumListenOnAllIPs": "false",
        }
        ensemble = installation.layout.zookeepers
        if len(ensemble) > 1:
            for server in ensemble:
                properties[f"server.{server.id}"] = f"{server.name}:{QUORUM_PORT}:{ELECTION_PORT}"
        return properties

    def format(self, node: Node, installation: Installation) -> None:
        data = installation.data(node)
        data.mkdir(exist_ok=True)
        (data / "myid").write_text(f"{node.id}\n")

    def command(self, node: Node, installation: Installation) -> Command:
        flags = [*jvm.name_table(node, installation), *jvm.shared_classes(cache_folder() / self._prepared() / CLASSES)]
        return Command(self._java(*flags, MAIN, str(installation.properties(node))))

    def _java(self, *arguments: str) -> list[str]:
        return jvm.java(*FLAGS, *self._jars.logging, "-cp", self._jars.class_path, *arguments)

    def _prepared(self) -> str:
        """Return the name of the folder for this class path and the state of its files: an archive fits no other."""
        stamps = [f"{entry} {entry.stat().st_mtime_ns if entry.exists() else 0}" for entry in self._jars.entries]
        digest = hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:12]
        return f"prepared-zookeeper-{digest}"

    def _record(self, folder: Path) -> None:
        with self.standalone(folder.parent, recording(folder)):
            pass

    @contextmanager
    def standalone(self, scratch: Path, *flags: str) -> Iterator[Endpoint]:
        """Run a standalone server at a free port for the block. It may have failed to start."""
        endpoint, data, properties = Endpoint("127.0.0.1", free_port()), scratch / "zookeeper", scratch / "zoo.cfg"
        data.mkdir()
        write_properties(
            properties,
            {
                "tickTime": "500",
                "dataDir": str(data),
                "clientPortAddress": endpoint.host,
                "clientPort": str(endpoint.port),
                "4lw.commands.whitelist": "*",
                "admin.enableServer": "false",
            },
        )
        with running(self._java(*flags, MAIN, str(properties)), scratch / "zookeeper.log", lambda: serves(endpoint)):
            yield endpoint


def unready(nodes: Collection[Node]) -> str | None:
    """Return a message about the first of these servers that accepts no sessions; None if all accept them."""
    return next((f"{node.name} accepts no sessions" for node in nodes if not serves(node.front)), None)


def serves(endpoint: Endpoint) -> bool:
    """Return whether a server accepts sessions."""
    return ask_server(endpoint, TIMEOUT_S).answer is Answer.SERVING


def connect(layout: Layout) -> str:
    """Return `zk-1:2181,…`, the servers for brokers. Each broker resolves the names to its own links."""
    return ",".join(f"{node.name}:{ZOOKEEPER_PORT}" for node in layout.zookeepers)


def registration(layout: Layout, broker: int) -> str | None:
    """Return why a broker cannot register again: `registered`, or that no server answered. None if it can.

    It is read through links that no fault breaks.
    """
    for server in layout.zookeepers:
        link = layout.probe_link(server.name, Listener.ZOOKEEPER).listen
        try:
            with ZooKeeperConnection(link, TIMEOUT_S) as connection:
                (znode,) = connection.get([f"/brokers/ids/{broker}"])
                return None if znode is None else "registered"
        except NoAnswer:
            continue
    return "unknown, because no ZooKeeper server answers"
