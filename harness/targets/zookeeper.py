"""ZooKeeper servers as nodes of a cluster: standalone or an ensemble, configured, started and asked like any other."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path

from harness.backends.backend import Command
from harness.clients.views import Answer
from harness.clients.zookeeper.server import ask_server
from harness.network.addresses import ELECTION_PORT, QUORUM_PORT, ZOOKEEPER_PORT, Endpoint
from harness.network.layout import Layout, Node
from harness.targets import jvm
from harness.targets.archives import free_port, recording, running
from harness.targets.jars import cache_folder, locked
from harness.targets.target import Installation, write_properties
from harness.targets.zookeeper_jars import ZooKeeperJars

MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
FLAGS = (
    "-Xmx64m",
    "-Dzookeeper.admin.enableServer=false",
    "-Dzookeeper.jmx.log4j.disable=true",
    "-Dzookeeper.preAllocSize=1024",
    # A killed process loses nothing that the kernel has, so nothing here depends on fsync.
    "-Dzookeeper.forceSync=no",
)
TICKS_OF_A_SESSION = 8
"""A session ends up to one tick later than it should."""
TICK_MS = (100, 500)
CATCH_UP_MS, SILENT_MS = 2500, 2000
"""How long a server may take to follow its leader, and how long either may be silent."""
PATIENCE = 1.0


class ZooKeeperServers:
    """What a target's driver needs for those of its nodes that are ZooKeeper servers."""

    def __init__(self, jars: ZooKeeperJars) -> None:
        self._jars = jars

    def prepare(self) -> None:
        """Record the classes of a server, unless that was done."""
        archive = self._archive()
        with locked(archive):
            missing = archive.with_suffix(".none")
            if archive.exists() or missing.exists():
                return
            print(f"preparing ZooKeeper ({self._jars.origin}) for quick starts", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as scratch:
                self._record(archive, Path(scratch))
            if not archive.exists():
                print("no class archive could be recorded: servers start slower", file=sys.stderr, flush=True)
                missing.touch()

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        """zoo.cfg. Every server is named as its peers reach it, and binds its own address alone."""
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
        flags = [*jvm.name_table(node, installation), *jvm.shared_classes(self._archive())]
        return Command(self._java(*flags, MAIN, str(installation.properties(node))))

    def _java(self, *arguments: str) -> list[str]:
        return jvm.java(*FLAGS, *self._jars.logging, "-cp", self._jars.class_path, *arguments)

    def _archive(self) -> Path:
        """One for each class path and the state of its files: an archive fits no other."""
        stamps = [f"{entry} {entry.stat().st_mtime_ns if entry.exists() else 0}" for entry in self._jars.entries]
        digest = hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:12]
        return cache_folder() / f"prepared-zookeeper-{digest}.jsa"

    def _record(self, archive: Path, scratch: Path) -> None:
        with self.lonely(scratch, recording(archive)):
            pass

    @contextmanager
    def lonely(self, scratch: Path, *flags: str) -> Iterator[Endpoint]:
        """A server by itself, at a free port, for as long as the block lasts. It may have failed to start."""
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
    """A sentence about the first of these servers that serves nobody; None if all do."""
    return next((f"{node.name} serves no sessions" for node in nodes if not serves(node.front)), None)


def serves(endpoint: Endpoint) -> bool:
    return ask_server(endpoint, PATIENCE).answer is Answer.SERVING


def connect(layout: Layout) -> str:
    """`zk-1:2181,…`: what brokers are told; each resolves the names to its own links."""
    return ",".join(f"{node.name}:{ZOOKEEPER_PORT}" for node in layout.zookeepers)
