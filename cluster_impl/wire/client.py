"""A pipelined connection to a node, with TLS and a login where the node requires them."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self, cast

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Malformed, Message, R, RequestMessage
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.framing import (
    DEFAULT_MAX_FRAME_BYTES,
    FramedProtocol,
    decode_correlation_id,
    encode_request,
    response_body_offset,
)
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.login import PLAIN, Access, AuthenticationFailed, PlainLogin
from fencepost.cluster_impl.wire.registry import Api, Registry
from fencepost.cluster_impl.wire.sasl import plain_token
from fencepost.cluster_impl.wire.scram import ScramClient

_HANDSHAKE_VERSION, _AUTHENTICATE_VERSION = 1, 2


class LoginRefused(ConnectionError):
    """The other side refused the login, or its SASL mechanism."""


@dataclass(slots=True)
class _Expected:
    api: Api
    version: int
    correlation_id: int
    answer: asyncio.Future[Any]


class Connection(FramedProtocol):
    """Requests may overlap; responses come in their order. `records` in responses are views of the frame."""

    def __init__(self, peer: str, registry: Registry, client_id: str, max_frame_bytes: int) -> None:
        super().__init__(max_frame_bytes)
        self.peer = peer
        """Name and address of the other side, for messages."""
        self._registry = registry
        self._client_id = client_id
        self._next_correlation_id = 0
        self._expected: deque[_Expected] = deque()
        self._transport: asyncio.Transport
        self._closed_because: str | None = None

    @classmethod
    async def open(
        cls,
        host: str,
        port: int,
        registry: Registry,
        client_id: str,
        *,
        hosts: Hosts,
        timeout: float,
        login: PlainLogin | Access | None = None,
        max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES,
    ) -> Self:
        """Connect to a node, over TLS and with a login where there is one.

        Raises ConnectionError or TimeoutError (`timeout` in seconds, login included) with a reason.
        """
        access = login if isinstance(login, Access) else Access(login)
        address = hosts.address(host)
        peer = f"{host}:{port}" if address == host else f"{host} ({address}:{port})"
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        try:
            async with asyncio.timeout_at(deadline):
                _, connection = await loop.create_connection(
                    lambda: cls(peer, registry, client_id, max_frame_bytes),
                    address,
                    port,
                    ssl=access.tls,
                    server_hostname=None if access.tls is None else host,
                )
        except TimeoutError as error:
            raise TimeoutError(f"{peer} did not accept a connection within {timeout:g} s") from error
        except ssl.SSLError as error:
            raise ConnectionError(f"no TLS with {peer}: {error.reason or error}") from error
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            raise ConnectionError(f"cannot connect to {peer}: {reason}") from error
        if access.login is not None:
            try:
                await connection._log_in(access.login, access.mechanism, deadline)
            except BaseException:
                connection.close()
                raise
        return connection

    async def _log_in(self, login: PlainLogin, mechanism: str, deadline: float) -> None:
        """Log in. Raises LoginRefused, ConnectionError or TimeoutError."""
        loop = asyncio.get_running_loop()
        handshake = await self.request(
            m.SaslHandshakeRequest(mechanism=mechanism), _HANDSHAKE_VERSION, timeout=max(0.0, deadline - loop.time())
        )
        if handshake.error_code != Error.NONE:
            offered = ", ".join(handshake.mechanisms) or "none"
            raise LoginRefused(f"{self.peer} does not accept the SASL mechanism {mechanism}; it offers {offered}")

        async def send(token: bytes) -> bytes:
            request = m.SaslAuthenticateRequest(auth_bytes=token)
            answer = await self.request(request, _AUTHENTICATE_VERSION, timeout=max(0.0, deadline - loop.time()))
            if answer.error_code != Error.NONE:
                raise LoginRefused(f"{self.peer} refused the login of {login.username}: {answer.error_message}")
            return bytes(answer.auth_bytes)

        if mechanism == PLAIN:
            await send(plain_token(login))
            return
        scram = ScramClient(mechanism, login)
        try:
            scram.verify(await send(scram.final(await send(scram.first()))))
        except AuthenticationFailed as failed:
            raise LoginRefused(f"no login of {login.username} at {self.peer}: {failed}") from failed

    @property
    def closed(self) -> bool:
        return self._closed_because is not None

    def close(self) -> None:
        self._finish("it was closed on this side")

    async def request(self, message: RequestMessage[R], version: int, *, timeout: float) -> R:
        """Send at once and wait for the response.

        Raises TimeoutError after `timeout` seconds (the connection stays usable, a late response is dropped) and
        ConnectionError if the connection is or gets closed.
        """
        response: R = await self._wait(self._send(message, version), timeout)
        return response

    def _send(self, message: Message, version: int) -> _Expected:
        api = self._registry[message.API_KEY]
        correlation_id = self._write(api, version, message)
        expected = _Expected(api, version, correlation_id, asyncio.get_running_loop().create_future())
        self._expected.append(expected)
        return expected

    def _write(self, api: Api, version: int, message: Message) -> int:
        if self._closed_because is not None:
            raise ConnectionError(f"cannot send {api.name} to {self.peer}: {self._closed_because}")
        correlation_id = self._next_correlation_id
        pieces = encode_request(api, version, correlation_id, self._client_id, message)
        self._next_correlation_id = (correlation_id + 1) & 0x7FFFFFFF
        self._transport.writelines(pieces)
        return correlation_id

    async def _wait(self, expected: _Expected, timeout: float) -> Any:
        try:
            async with asyncio.timeout(timeout):
                return await expected.answer
        except TimeoutError as error:
            name = f"{expected.api.name} v{expected.version}"
            raise TimeoutError(f"{self.peer} did not answer {name} within {timeout:g} s") from error

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._finish(f"the connection broke: {exc}" if exc else "the other side closed the connection")

    def frame_refused(self, reason: str) -> None:
        self._finish(reason)

    def frame_received(self, frame: bytearray) -> None:
        try:
            self._receive(frame)
        except Malformed as error:
            self._finish(str(error))

    def _receive(self, frame: bytearray) -> None:
        correlation_id = decode_correlation_id(frame)
        if not self._expected or self._expected[0].correlation_id != correlation_id:
            raise Malformed(f"a response with correlation id {correlation_id} was not expected")
        expected = self._expected[0]
        api, version = expected.api, expected.version
        if not expected.answer.done():
            offset = response_body_offset(frame, api.response_header_is_flexible(version))
            expected.answer.set_result(api.response.decode(frame, version, offset))
        self._expected.popleft()

    def _finish(self, reason: str) -> None:
        """Close the connection, once; pending requests get the first reason."""
        if self._closed_because is not None:
            return
        self._closed_because = reason
        self.stop_receiving()
        self._transport.close()
        while self._expected:
            expected = self._expected.popleft()
            if not expected.answer.done():
                reason = f"{self.peer} did not answer {expected.api.name} v{expected.version}: {reason}"
                expected.answer.set_exception(ConnectionError(reason))


Connect = Callable[[str, int, float], Awaitable[Connection]]
"""Opens a connection to a host and port within seconds. Raises ConnectionError or TimeoutError with a message."""


def connector(registry: Registry, client_id: str, hosts: Hosts, access: Access | None = None) -> Connect:
    """Return the way in which a node connects to others of one kind."""
    return lambda host, port, timeout: Connection.open(
        host, port, registry, client_id, hosts=hosts, timeout=timeout, login=access
    )
