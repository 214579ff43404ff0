"""Brokers that answer as controllers, as a test says, on real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.zk_controller.broker.link import BrokerAddresses, ControllerLink
from fencepost.cluster_impl.replication.control_plane import BrokerView, ClusterView, Endpoint
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import ZK_BROKER
from fencepost.cluster_impl.wire.server import Handler, Request, Server

Answer = Callable[[Request], "Message | Awaitable[Message | None] | None"]

_KEYS = (
    m.MetadataHeartbeatRequest.API_KEY,
    m.IsrChangeRequest.API_KEY,
    m.ReplicaStateEventRequest.API_KEY,
    m.ControlledShutdownRequest.API_KEY,
    m.CreateTopicsRequest.API_KEY,
)


class Scripted:
    """One broker: keeps what it was asked, and by which connection; `answer` decides what it says."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[Message] = []
        self.connections: list[int] = []
        self.handlers: dict[int, Handler] = dict.fromkeys(_KEYS, self._handle)

    def _handle(self, request: Request) -> Message | Awaitable[Message | None] | None:
        self.asked.append(request.body)
        self.connections.append(request.connection.number)
        return self.answer(request)


class Controllers:
    """`active` is the id of the one that a link under test takes for the controller, -1 for none."""

    def __init__(self, endpoints: dict[int, Endpoint]) -> None:
        self.active = min(endpoints)
        brokers = {id: BrokerView(id, {"INTERNAL": endpoint}) for id, endpoint in endpoints.items()}
        self._view = ClusterView("c", -1, brokers, {})

    def move(self, broker_id: int, to: int) -> None:
        """Another process has the id now: it listens where the broker `to` does."""
        there = self._view.brokers[to].endpoints
        self._view = replace(self._view, brokers={**self._view.brokers, broker_id: BrokerView(broker_id, there)})

    def link(self) -> ControllerLink:
        addresses = BrokerAddresses(cast("ZooKeeper", _UnreachableZooKeeper()), "INTERNAL", lambda: self._view)
        return ControllerLink(lambda: self.active, addresses, connect)


class _UnreachableZooKeeper:
    """A ZooKeeper that does not answer in time: brokers are found by metadata."""

    async def get(self, path: str) -> object:
        raise TimeoutError


async def connect(host: str, port: int, timeout: float) -> Connection:
    return await Connection.open(host, port, ZK_BROKER, "test", hosts=Hosts(), timeout=timeout)


@asynccontextmanager
async def controllers(*scripted: Scripted) -> AsyncIterator[Controllers]:
    """Serve them as brokers 1, 2, ... on free ports of 127.0.0.1; the first is the controller."""
    servers = [Server(ZK_BROKER, each.handlers) for each in scripted]
    try:
        yield Controllers(
            {
                number: Endpoint("127.0.0.1", await server.listen("127.0.0.1", 0, "INTERNAL"))
                for number, server in enumerate(servers, start=1)
            }
        )
    finally:
        for server in servers:
            await server.close()


@asynccontextmanager
async def serving(scripted: Scripted) -> AsyncIterator[int]:
    """Serve it on a free port of 127.0.0.1, which this gives."""
    server = Server(ZK_BROKER, scripted.handlers)
    try:
        yield await server.listen("127.0.0.1", 0, "INTERNAL")
    finally:
        await server.close()
