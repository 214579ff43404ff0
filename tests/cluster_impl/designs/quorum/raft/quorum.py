"""Real nodes of a metadata quorum in one process, over loopback sockets and real folders."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cluster_impl.designs.quorum.raft.config import RaftConfig
from cluster_impl.designs.quorum.raft.core import NotLeader
from cluster_impl.designs.quorum.raft.node import LostLeadership, RaftNode
from cluster_impl.storage.directory import LogDir
from cluster_impl.wire.client import Connection
from cluster_impl.wire.codec import R, RequestMessage
from cluster_impl.wire.hosts import Hosts
from cluster_impl.wire.registry import QUORUM_CONTROLLER
from cluster_impl.wire.server import Server

HOST = "127.0.0.1"
CLUSTER_ID = "quorum-under-test"
PATIENCE = 10.0
"""Seconds after which a condition that does not come true fails the test."""


@dataclass
class Heard:
    """A listener that writes down what it is told."""

    records: list[tuple[int, bytes]] = field(default_factory=list)
    elected: list[int] = field(default_factory=list)
    resigned: int = 0

    def on_commit(self, records: Sequence[tuple[int, bytes]]) -> None:
        self.records += records

    def on_elected(self, epoch: int) -> None:
        self.elected.append(epoch)

    def on_resigned(self) -> None:
        self.resigned += 1

    def on_leader(self, leader_id: int, epoch: int) -> None:
        pass


class Quorum:
    """Use as an async context manager; the nodes run inside."""

    def __init__(self, folder: Path, size: int = 3) -> None:
        self.folder = folder
        self.voters = {node_id: (HOST, _free_port()) for node_id in range(1, size + 1)}
        self.nodes: dict[int, RaftNode] = {}
        self.heard: dict[int, Heard] = {}
        self._servers: dict[int, Server] = {}
        self._dirs: dict[int, LogDir] = {}

    async def __aenter__(self) -> "Quorum":
        for node_id in self.voters:
            await self.start(node_id)
        return self

    async def __aexit__(self, *_: object) -> None:
        for node_id in list(self.nodes):
            await self.stop(node_id)

    def config(self, node_id: int) -> RaftConfig:
        return RaftConfig(
            node_id, self.voters, CLUSTER_ID, election_timeout=0.3, fetch_timeout=0.6, request_timeout=0.4
        )

    async def start(self, node_id: int) -> None:
        directory = self._dirs[node_id] = LogDir.open(self.folder / str(node_id), CLUSTER_ID, node_id)
        heard = self.heard[node_id] = Heard()
        node = self.nodes[node_id] = RaftNode(self.config(node_id), directory, Hosts(), heard)
        server = self._servers[node_id] = Server(QUORUM_CONTROLLER, node.handlers)
        await server.listen(*self.voters[node_id], "CONTROLLER")
        await node.start()

    async def stop(self, node_id: int) -> None:
        await self.nodes.pop(node_id).close()
        await self._servers.pop(node_id).close()
        self._dirs.pop(node_id).close()

    async def stop_listening(self, node_id: int) -> None:
        """Nobody reaches this node any more; it reaches the others."""
        await self._servers[node_id].close()

    async def leader(self) -> RaftNode:
        """The node that leads the newest epoch and has told its listener so."""

        def leading() -> list[tuple[int, int]]:
            return [
                (node.epoch, node_id)
                for node_id, node in self.nodes.items()
                if node.is_leader and node.epoch in self.heard[node_id].elected
            ]

        await until(lambda: bool(leading()), "a leader is elected")
        return self.nodes[max(leading())[1]]

    async def commit(self, *records: bytes) -> int:
        """Have records committed by whoever leads; the offset of the last."""
        async with asyncio.timeout(PATIENCE):
            while True:
                leader = await self.leader()
                try:
                    epoch = leader.epoch
                    offset = leader.append(records, epoch)
                    await leader.committed(offset, epoch)
                except (NotLeader, LostLeadership):
                    continue
                return offset

    async def ask(self, node_id: int, message: RequestMessage[R], version: int) -> R:
        """A request from outside."""
        host, port = self.voters[node_id]
        connection = await Connection.open(host, port, QUORUM_CONTROLLER, "test", hosts=Hosts(), timeout=PATIENCE)
        try:
            return await connection.request(message, version, timeout=PATIENCE)
        finally:
            connection.close()


async def until(condition: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 - what it asks is not told by any event
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"waited {PATIENCE:g} s in vain until {what}") from None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
