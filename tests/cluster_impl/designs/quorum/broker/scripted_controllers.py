"""Controllers on real sockets that answer as a test says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fencepost.cluster_impl.config.values import Voter
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from fencepost.cluster_impl.wire.server import Handler, Request, Server

HeartbeatAnswer = Callable[[Request], "Message | Awaitable[Message | None] | None"]

_KEYS = (
    m.BrokerHeartbeatRequest.API_KEY,
    m.AlterIsrRequest.API_KEY,
    m.CreateTopicsRequest.API_KEY,
    m.DeleteTopicsRequest.API_KEY,
    m.DescribeQuorumRequest.API_KEY,
)


class ScriptedController:
    """One controller that records its requests; `answer` returns each response."""

    def __init__(self, answer: HeartbeatAnswer) -> None:
        self.answer = answer
        self.asked: list[Message] = []
        self.handlers: dict[int, Handler] = dict.fromkeys(_KEYS, self._handle)

    def _handle(self, request: Request) -> Message | Awaitable[Message | None] | None:
        self.asked.append(request.body)
        return self.answer(request)


@asynccontextmanager
async def controllers(*scripted: ScriptedController) -> AsyncIterator[list[Voter]]:
    """Serve them as controllers 1, 2, ... on free ports of 127.0.0.1."""
    servers = [Server(QUORUM_CONTROLLER, each.handlers) for each in scripted]
    try:
        yield [
            Voter(number, "127.0.0.1", await server.listen("127.0.0.1", 0, "CONTROLLER"))
            for number, server in enumerate(servers, start=1)
        ]
    finally:
        for server in servers:
            await server.close()
