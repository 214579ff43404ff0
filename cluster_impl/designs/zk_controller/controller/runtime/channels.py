"""The controller's channels to the registered brokers (Kafka Internals (2017), ControllerChannelManager).

Each has one connection and one serial queue. A request without a response is sent again over a new connection every
300 ms, as long as the broker is registered; a broken connection never means that a broker is dead. The channels are
concurrent, so a blocked one does not delay the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from fencepost.cluster_impl.designs.zk_controller.controller.controller import RegisteredBroker
from fencepost.cluster_impl.wire.client import Connect, Connection
from fencepost.cluster_impl.wire.codec import Message, RequestMessage
from fencepost.cluster_impl.wire.on_demand import OnDemandConnection
from fencepost.cluster_impl.wire.registry import ZK_BROKER

log = logging.getLogger(__name__)

RETRY_BACKOFF = 0.3
"""Seconds, as in the document."""

ResponseListener = Callable[[int, Message, Message], None]
"""Called with broker id, request and response."""


class Channels:
    """The channels of one controller, by broker id."""

    def __init__(self, connect: Connect, listener: str, socket_timeout: float, answered: ResponseListener) -> None:
        """Create the set without channels. `socket_timeout`, in seconds, is for a connection and for each response."""
        self._connect = connect
        self._listener = listener
        self._socket_timeout = socket_timeout
        self._answered = answered
        self._channels: dict[int, Channel] = {}

    def keep(self, registered: Mapping[int, RegisteredBroker]) -> None:
        """Open and close channels so that exactly the registered brokers have one."""
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
        """Queue a request; it is dropped if the broker is no longer registered."""
        channel = self._channels.get(broker_id)
        if channel is not None:
            channel.queue.put_nowait(request)

    def close(self) -> None:
        """Close all channels and drop the queued requests."""
        self.keep({})


class Channel:
    """The channel to one broker."""

    def __init__(
        self,
        broker: RegisteredBroker,
        connect: Connect,
        listener: str,
        socket_timeout: float,
        answered: ResponseListener,
    ) -> None:
        self.broker = broker
        self.queue: asyncio.Queue[RequestMessage[Any]] = asyncio.Queue()
        self._connect = connect
        self._listener = listener
        self._socket_timeout = socket_timeout
        self._answered = answered
        self._connection = OnDemandConnection[int]()
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
                    # It would fail again, and a channel that ends would block all later requests.
                    name = type(request).__name__
                    log.exception("%s for broker %d is passed over: it cannot be sent", name, self.broker.broker_id)
                    self._connection.close()
                else:
                    self._answered(self.broker.broker_id, request, response)
        finally:
            self._connection.close()

    async def _until_answered(self, request: RequestMessage[Any]) -> Message:
        warned = False
        while True:
            try:
                return await self._ask(request)
            except (ConnectionError, TimeoutError) as error:
                # A late response must not be taken for the response to one of the next requests, nor be delivered.
                self._connection.close()
                if not warned:  # once for each request, as it may repeat for hours
                    name = type(request).__name__
                    log.warning("%s for broker %d is sent until it is answered: %s", name, self.broker.broker_id, error)
                    warned = True
                await asyncio.sleep(RETRY_BACKOFF)

    async def _ask(self, request: RequestMessage[Any]) -> Message:
        connection = await self._connection.to(self.broker.broker_id, self._open)
        version = ZK_BROKER[request.API_KEY].max_version
        response: Message = await connection.request(request, version, timeout=self._socket_timeout)
        return response

    async def _open(self) -> Connection:
        endpoint = self.broker.info.endpoint(self._listener)
        if endpoint is None:
            raise ConnectionError(f"broker {self.broker.broker_id} has no listener {self._listener}")
        return await self._connect(endpoint.host, endpoint.port, self._socket_timeout)
