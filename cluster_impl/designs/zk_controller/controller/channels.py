"""The controller's channels: one connection and one serial queue for each registered broker (003,
ControllerChannelManager).

What cannot be sent, or is not answered, is sent again over a new connection every 300 ms, for as long as the broker is
registered; a broken connection never means that a broker is dead. The channels run side by side, so one that hangs
delays no other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from cluster_impl.designs.zk_controller.controller.controller import Registration
from cluster_impl.wire.client import Connection
from cluster_impl.wire.codec import Message, RequestMessage
from cluster_impl.wire.registry import ZK_BROKER

log = logging.getLogger(__name__)

RETRY_BACKOFF = 0.3
"""Seconds; the document's."""

Answered = Callable[[int, Message, Message], None]
"""Broker id, request and response."""


class Connect(Protocol):
    async def __call__(self, host: str, port: int, timeout: float) -> Connection:
        """A connection to the INTERNAL listener of a broker, logged in where that is asked for.

        Raises ConnectionError or TimeoutError (`timeout` in seconds) with a sentence.
        """
        ...


class Channels:
    def __init__(self, connect: Connect, listener: str, socket_timeout: float, answered: Answered) -> None:
        """`socket_timeout` (seconds) is how long to wait for a connection, and then for each response."""
        self._connect = connect
        self._listener = listener
        self._socket_timeout = socket_timeout
        self._answered = answered
        self._channels: dict[int, Channel] = {}

    def keep(self, registered: Mapping[int, Registration]) -> None:
        """Opens and closes channels until they are those of the registered brokers."""
        for broker_id, channel in list(self._channels.items()):
            if channel.broker != registered.get(broker_id):
                channel.close()
                del self._channels[broker_id]
        for broker_id, broker in registered.items():
            if broker_id not in self._channels:
                self._channels[broker_id] = Channel(
                    broker, self._connect, self._listener, self._socket_timeout, self._answered
                )

    def send(self, broker_id: int, request: RequestMessage[Any]) -> None:
        """Queues it; nothing happens where the broker is not registered any more."""
        channel = self._channels.get(broker_id)
        if channel is not None:
            channel.queue.put_nowait(request)

    def close(self) -> None:
        """Drops what waits."""
        self.keep({})


class Channel:
    def __init__(
        self, broker: Registration, connect: Connect, listener: str, socket_timeout: float, answered: Answered
    ) -> None:
        self.broker = broker
        self.queue: asyncio.Queue[RequestMessage[Any]] = asyncio.Queue()
        self._connect = connect
        self._listener = listener
        self._socket_timeout = socket_timeout
        self._answered = answered
        self._connection: Connection | None = None
        self._task = asyncio.create_task(self._run())

    def close(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        try:
            while True:
                request = await self.queue.get()
                try:
                    response = await self._until_answered(request)
                except Exception:
                    # Sent again it would fail again, and a channel that died would keep back all that follows.
                    name = type(request).__name__
                    log.exception("%s for broker %d is passed over: it cannot be sent", name, self.broker.broker_id)
                    self._drop_connection()
                else:
                    self._answered(self.broker.broker_id, request, response)
        finally:
            self._drop_connection()

    async def _until_answered(self, request: RequestMessage[Any]) -> Message:
        complained = False
        while True:
            try:
                return await self._ask(request)
            except (ConnectionError, TimeoutError) as error:
                self._drop_connection()
                if not complained:  # once for each request: it may go on for hours
                    name = type(request).__name__
                    log.warning("%s for broker %d is sent until it is answered: %s", name, self.broker.broker_id, error)
                    complained = True
                await asyncio.sleep(RETRY_BACKOFF)

    async def _ask(self, request: RequestMessage[Any]) -> Message:
        connection = self._connection
        if connection is None or connection.closed:
            endpoint = self.broker.info.endpoint(self._listener)
            if endpoint is None:
                raise ConnectionError(f"broker {self.broker.broker_id} has no listener {self._listener}")
            connection = await self._connect(endpoint.host, endpoint.port, self._socket_timeout)
            self._connection = connection
        version = ZK_BROKER[request.API_KEY].max_version
        response: Message = await connection.request(request, version, timeout=self._socket_timeout)
        return response

    def _drop_connection(self) -> None:
        """A response that comes late must never be taken for one of this channel's next requests, nor be told."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
