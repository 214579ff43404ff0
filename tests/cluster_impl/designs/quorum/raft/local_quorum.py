"""Real nodes of a metadata quorum in one process, over loopback sockets and real folders."""

import asyncio
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.cluster_impl.config.quorum import QuorumConfig
from fencepost.cluster_impl.config.values import Voter
from fencepost.cluster_impl.designs.quorum.raft.core import NotLeader
from fencepost.cluster_impl.designs.quorum.raft.membership import VoterRequests
from fencepost.cluster_impl.designs.quorum.raft.node import RaftNode
from fencepost.cluster_impl.designs.quorum.raft.waiting import LostLeadership
from fencepost.cluster_impl.storage.directory import LogDir
from fencepost.cluster_impl.wire.client import Connection, connector
from fencepost.cluster_impl.wire.codec import R, RequestMessage
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from fencepost.cluster_impl.wire.server import Server
from tests.waiting import until

HOST = "127.0.0.1"
CLUSTER_ID = "quorum-under-test"
TIMEOUT_S = 30.0
"""Seconds after which a condition that does not come true fails the test."""


@dataclass
class RecordingListener:
    """A listener that records its calls. Its state, and so its snapshot, is the list of all values."""

    records: list[tuple[int, bytes]] = field(default_factory=list)
    loaded: list[int] = field(default_factory=list)
    elected: list[int] = field(default_factory=list)
    resigned: int = 0
    voters: frozenset[int] = frozenset()

    def on_commit(self, records: Sequence[tuple[int, bytes]]) -> None:
        self.records += records

    def on_snapshot(self, values: Sequence[bytes], end_offset: int) -> None:
        self.loaded.append(end_offset)
        self.records = [(end_offset - 1, value) for value in values]

    def snapshot(self) -> Iterator[bytes]:
        return iter([value for _, value in self.records])

    def on_elected(self, epoch: int) -> None:
        self.elected.append(epoch)

    def on_resigned(self) -> None:
        self.resigned += 1

    def on_leader(self, leader_id: int, epoch: int) -> None:
        pass

    def on_voters(self, voter_ids: frozenset[int]) -> None:
        self.voters = voter_ids


class Quorum:
    """Use as an async context manager; the nodes run inside."""

    def __init__(self, folder: Path, size: int = 3, spares: int = 0) -> None:
        """`spares` are nodes that begin without a vote."""
        self.folder = folder
        self.voters = {node_id: (HOST, _free_port()) for node_id in range(1, size + spares + 1)}
        self.first_voters = tuple(self.voters)[:size]
        self.nodes: dict[int, RaftNode] = {}
        self.heard: dict[int, RecordingListener] = {}
        self._servers: dict[int, Server] = {}
        self._dirs: dict[int, LogDir] = {}

    async def __aenter__(self) -> "Quorum":
        for node_id in self.voters:
            await self.start(node_id)
        return self

    async def __aexit__(self, *_: object) -> None:
        for node_id in list(self.nodes):
            await self.stop(node_id)

    def config(self) -> QuorumConfig:
        voters = tuple(Voter(node_id, *self.voters[node_id]) for node_id in self.first_voters)
        return QuorumConfig(
            cluster_id=CLUSTER_ID, voters=voters, election_timeout=0.3, fetch_timeout=0.6, request_timeout=0.4
        )

    async def start(self, node_id: int) -> None:
        directory = self._dirs[node_id] = LogDir.open(self.folder / str(node_id), CLUSTER_ID, node_id)
        heard = self.heard[node_id] = RecordingListener()
        node = self.nodes[node_id] = RaftNode(
            node_id, self.config(), directory, connector(QUORUM_CONTROLLER, f"controller-{node_id}", Hosts())
        )
        server = self._servers[node_id] = Server(
            QUORUM_CONTROLLER, {**node.handlers, **VoterRequests(node, CLUSTER_ID).handlers}
        )
        await server.listen(*self.voters[node_id], "CONTROLLER")
        await node.start(heard)

    async def stop(self, node_id: int) -> None:
        del self.heard[node_id]
        await self.nodes.pop(node_id).close()
        await self._servers.pop(node_id).close()
        self._dirs.pop(node_id).close()

    async def stop_listening(self, node_id: int) -> None:
        """Let no node reach this one any more; it still reaches the others."""
        await self._servers[node_id].close()

    async def leader(self) -> RaftNode:
        """Return the node that leads the newest epoch and has notified its listener."""

        def leading() -> list[tuple[int, int]]:
            return [
                (node.epoch, node_id)
                for node_id, node in self.nodes.items()
                if node.leader_id == node_id and node.epoch in self.heard[node_id].elected
            ]

        await until(lambda: bool(leading()), "a leader is elected")
        return self.nodes[max(leading())[1]]

    async def commit(self, *records: bytes) -> int:
        """Have the leader commit records; return the offset of the last."""
        async with asyncio.timeout(TIMEOUT_S):
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
        """Send a request from outside the quorum."""
        host, port = self.voters[node_id]
        connection = await Connection.open(host, port, QUORUM_CONTROLLER, "test", hosts=Hosts(), timeout=TIMEOUT_S)
        try:
            return await connection.request(message, version, timeout=TIMEOUT_S)
        finally:
            connection.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
