"""Real ZooKeeper servers for tests: from the jars that pyspark carries, on loopback addresses of the test's own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

CLIENT_PORT = 2181
LIMIT = 30.0
"""Seconds in which a server must serve."""

_JARS = ("zookeeper-3.*", "zookeeper-jute-*", "slf4j-api-*", "metrics-core-4.*", "snappy-java-*")
"""All that a server needs; without snappy-java it starts and serves no client."""

# A test's data may be lost with the machine; waiting for its disk would only blur what is measured.
_JVM = (
    "-Xmx128m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dzookeeper.admin.enableServer=false",
    "-Dzookeeper.forceSync=no",
    "-Djute.maxbuffer=4194304",
)

TICK_MS = 100
"""Sessions expire within two ticks of their time."""


def address(server: int) -> str:
    """An address of this test process's own for each server id."""
    return f"127.252.{os.getpid() % 250}.{server}"


def class_path() -> str:
    spark = find_spec("pyspark")
    assert spark is not None and spark.origin is not None, "pyspark, which carries ZooKeeper's jars, is not installed"
    folder = Path(spark.origin).parent / "jars"
    found = [next(iter(sorted(folder.glob(f"{pattern}.jar"))), None) for pattern in _JARS]
    assert all(found), f"{folder} lacks one of {', '.join(_JARS)}"
    return ":".join(map(str, found))


class ZooKeeperServer:
    """One server process; alone, or one of an ensemble (`peers`: address by id, its own included)."""

    def __init__(self, folder: Path, server_id: int = 1, peers: Mapping[int, str] | None = None) -> None:
        self.id = server_id
        self.address = address(server_id)
        self.connect = f"{self.address}:{CLIENT_PORT}"
        self.folder = folder / f"zookeeper-{server_id}"
        self.process: subprocess.Popen[bytes] | None = None
        self._ensemble = dict(peers or {})
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "zoo.cfg").write_text(self._configuration())
        (self.folder / "myid").write_text(f"{server_id}\n")

    def _configuration(self) -> str:
        lines = [
            f"dataDir={self.folder}",
            f"clientPort={CLIENT_PORT}",
            f"clientPortAddress={self.address}",
            f"tickTime={TICK_MS}",
            f"minSessionTimeout={2 * TICK_MS}",
            "maxSessionTimeout=60000",
            "maxClientCnxns=0",
            "admin.enableServer=false",
            "4lw.commands.whitelist=*",
        ]
        if self._ensemble:
            # Ticks are short, so the limits are many of them.
            lines += ["initLimit=100", "syncLimit=20"]
            lines += [f"server.{peer}={host}:2888:3888" for peer, host in sorted(self._ensemble.items())]
        return "".join(f"{line}\n" for line in lines)

    def start(self) -> None:
        java = shutil.which("java")
        assert java is not None, "no java on the PATH"
        main = "quorum.QuorumPeerMain" if self._ensemble else "ZooKeeperServerMain"
        command = [java, *_JVM, "-cp", class_path(), f"org.apache.zookeeper.server.{main}", "zoo.cfg"]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)

    def ask(self, command: str) -> str:
        """The answer to a four-letter word; empty if the server does not answer one."""
        try:
            with socket.create_connection((self.address, CLIENT_PORT), timeout=1) as connection:
                connection.sendall(command.encode())
                pieces = []
                while piece := connection.recv(65536):
                    pieces.append(piece)
        except OSError:
            return ""
        return b"".join(pieces).decode()

    @property
    def mode(self) -> str | None:
        """`standalone`, `leader` or `follower` once it serves; a connect or `ruok` would not tell."""
        lines = [line for line in self.ask("srvr").splitlines() if line.startswith("Mode: ")]
        return lines[0].removeprefix("Mode: ") if lines else None

    def await_serving(self) -> None:
        deadline = time.monotonic() + LIMIT
        while self.mode is None:
            assert self.process is not None and self.process.poll() is None, f"it ended: {self.log()[-2000:]}"
            assert time.monotonic() < deadline, f"ZooKeeper {self.id} does not serve: {self.log()[-2000:]}"
            time.sleep(0.02)

    def has_session(self, session: int) -> bool:
        """Return True as well if it does not answer: then the session may still exist."""
        dump = self.ask("dump")
        return not dump or f"0x{session:x}" in dump

    def watches(self) -> int:
        """How many watches it holds for all its clients."""
        deadline = time.monotonic() + LIMIT
        while not (lines := [line for line in self.ask("mntr").splitlines() if line.startswith("zk_watch_count")]):
            assert time.monotonic() < deadline, f"ZooKeeper {self.id} does not answer: {self.log()[-2000:]}"
        return int(lines[0].split()[1])

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def log(self) -> str:
        path = self.folder / "server.log"
        return path.read_text(errors="replace") if path.exists() else ""


class Ensemble:
    def __init__(self, servers: Sequence[ZooKeeperServer]) -> None:
        self.servers = tuple(servers)
        self.connect = ",".join(server.connect for server in servers)

    def leader(self) -> ZooKeeperServer:
        deadline = time.monotonic() + LIMIT
        while True:
            for server in self.servers:
                if server.mode in ("leader", "standalone"):
                    return server
            assert time.monotonic() < deadline, "the ensemble has no leader"
            time.sleep(0.02)


@contextmanager
def ensemble(folder: Path, size: int = 1) -> Iterator[Ensemble]:
    """`size` servers that serve; killed at the end."""
    peers = {server: address(server) for server in range(1, size + 1)} if size > 1 else {}
    servers = [ZooKeeperServer(folder, server, peers) for server in range(1, size + 1)]
    try:
        for server in servers:
            server.start()
        for server in servers:
            server.await_serving()
        yield Ensemble(servers)
    finally:
        for server in servers:
            server.kill()


@contextmanager
def zookeeper(folder: Path) -> Iterator[ZooKeeperServer]:
    """One server that serves; killed at the end."""
    with ensemble(folder) as alone:
        yield alone.servers[0]
