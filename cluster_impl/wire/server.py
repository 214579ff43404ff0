"""A server for framed requests: no thread, and no task unless a handler answers later.

Handlers are called in the order in which requests arrive, later answers may overtake each other inside, and responses
are written in the order of the requests. A connection is not read while too many of its bytes are unanswered, or while
it does not read its responses. The work for many requests of one client, on a slow disk say, is spread over turns of
the event loop, so that it does not delay the node's own timers. On a listener with users a client has to log in first.
"""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import cast

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Malformed, Message
from fencepost.cluster_impl.wire.complaints import Complaints
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.framing import (
    DEFAULT_MAX_FRAME_BYTES,
    FramedProtocol,
    decode_request_header,
    encode_response,
    framed,
    peek_api,
)
from fencepost.cluster_impl.wire.listening import bound_socket
from fencepost.cluster_impl.wire.login import ANONYMOUS, certificate_principal
from fencepost.cluster_impl.wire.registry import API_VERSIONS, SASL_AUTHENTICATE, SASL_HANDSHAKE, Api, Registry
from fencepost.cluster_impl.wire.sasl import LARGEST_UNAUTHENTICATED_FRAME, ServerExchange, Users

log = logging.getLogger(__name__)

DEFAULT_MAX_UNACKNOWLEDGED_BYTES = 16 * 1024 * 1024

_REQUEST_OVERHEAD_BYTES = 16 * 1024
"""Counted for each waiting request in addition to its bytes, so that many small ones are limited as well."""

_TURN_SECONDS = 0.01
"""The time for which one connection's requests are handled before all other work of the node has its turn."""

_CLOSE_GRACE_SECONDS = 1.0
_HANDSHAKE_SECONDS = 10.0
"""The time for which a client may take to agree on TLS."""

_LOGIN = frozenset({SASL_HANDSHAKE, SASL_AUTHENTICATE})
_SOFTWARE_FROM = 3
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")
"""A name, or a version, of a client's software."""
_ANYBODYS = _LOGIN | {API_VERSIONS}
"""The requests that a client may send before it has logged in."""


@dataclass(frozen=True, slots=True)
class FeatureReport:
    """The features of KIP-584 that ApiVersions shows: supported levels, lowest and highest, and the level of each."""

    supported: Mapping[str, tuple[int, int]]
    finalized: Mapping[str, int]
    epoch: int


class CloseConnection(Exception):
    """Raised by a handler that will not answer: the connection is closed, with one log line that says why."""


@dataclass(slots=True)
class Request:
    api: Api
    version: int
    correlation_id: int
    client_id: str | None
    body: Message
    connection: ServerConnection
    received_at: float
    """Seconds, `time.monotonic()`."""
    listener: str
    principal: str = ANONYMOUS
    """The user that sent the request, as `User:NAME`."""


Handler = Callable[[Request], "Message | Awaitable[Message | None] | None"]
"""The response, now or later; None sends nothing (Produce with acks=0)."""


class Server:
    """Serves the APIs of a registry that have a handler, and ApiVersions by itself."""

    def __init__(
        self,
        registry: Registry,
        handlers: Mapping[int, Handler],
        *,
        max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES,
        max_unacknowledged_bytes: int = DEFAULT_MAX_UNACKNOWLEDGED_BYTES,
        features: Callable[[], FeatureReport] | None = None,
    ) -> None:
        self.handlers: dict[int, Handler] = {
            **handlers,
            API_VERSIONS: _api_versions,
            SASL_HANDSHAKE: lambda request: request.connection.log_in(request),
            SASL_AUTHENTICATE: lambda request: request.connection.log_in(request),
        }
        self.apis_after_login = {key: api for key, api in registry.items() if key in self.handlers}
        self.apis = {key: api for key, api in self.apis_after_login.items() if key not in _LOGIN}
        self.features = features
        self.max_frame_bytes = max_frame_bytes
        self.max_unacknowledged_bytes = max_unacknowledged_bytes
        self.complaints = Complaints()
        self.connections: set[ServerConnection] = set()
        self.accepted = 0
        """The number of connections since the start."""
        self.waiting: set[asyncio.Future[Message | None]] = set()
        """The pending answers; a handler continues when its client has left, and ends with the server."""
        self._listeners: list[asyncio.Server] = []

    async def listen(
        self,
        host: str,
        port: int,
        listener_name: str,
        users: Users | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> int:
        """Start to accept connections; return the port, which the system chooses for 0. Raises OSError with a message.

        With `users`, each connection has to log in as one of them. With `tls`, it is encrypted, and the
        subject of a client's certificate is its user if there are no logins.
        """
        listening = bound_socket(host, port, listener_name)
        loop = asyncio.get_running_loop()
        self._listeners.append(
            await loop.create_server(
                lambda: ServerConnection(self, listener_name, users),
                sock=listening,
                backlog=1024,
                ssl=tls,
                ssl_handshake_timeout=None if tls is None else _HANDSHAKE_SECONDS,
            )
        )
        bound: int = listening.getsockname()[1]
        return bound

    async def close(self) -> None:
        """Stop listening, cancel the pending answers, and close every connection."""
        for listener in self._listeners:
            listener.close()
        for answer in list(self.waiting):
            answer.cancel()
        closed = [connection.close() for connection in list(self.connections)]
        if closed:
            _, open_still = await asyncio.wait(closed, timeout=_CLOSE_GRACE_SECONDS)
            if open_still:
                for connection in list(self.connections):
                    connection.abort()
                await asyncio.wait(closed)


@dataclass(slots=True)
class _Slot:
    """A place in the order of responses."""

    request: Request
    answer: asyncio.Future[Message | None]
    cost: int


class ServerConnection(FramedProtocol):
    def __init__(self, server: Server, listener: str, users: Users | None) -> None:
        super().__init__(server.max_frame_bytes)
        server.accepted += 1
        self.number = server.accepted
        """Connections of one server are numbered in the order in which they were accepted."""
        self.listener = listener
        self.peer = "?"
        """Address and port of the client."""
        self._server = server
        self._apis = server.apis
        self._principal = ANONYMOUS
        self._login: ServerExchange | None = None
        """The login of the client; None on a listener without users."""
        self._is_unknown = users is not None
        if users is not None:
            self._login = ServerExchange(users)
            self._apis = server.apis_after_login
            self._max_frame_bytes = min(server.max_frame_bytes, LARGEST_UNAUTHENTICATED_FRAME)
        self._turn_ends = 0.0
        self._later: deque[bytearray] = deque()
        """The received frames that wait for the next turn."""
        self._slots: deque[_Slot] = deque()
        self._unacknowledged = 0
        self._writing_paused = False
        self._reading_paused = False
        self._closing = False
        self._transport: asyncio.Transport
        self._lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.peer = f"{peer[0]}:{peer[1]}" if peer else "?"
        if not self._is_unknown and (certificate := transport.get_extra_info("peercert")):
            self._principal = certificate_principal(certificate)
        self._server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._closing = True
        self._later.clear()
        self._slots.clear()
        self._server.connections.discard(self)
        if not self._lost.done():
            self._lost.set_result(None)

    @property
    def closed(self) -> bool:
        return self._closing

    @property
    def host(self) -> str:
        """Return the address of the client, without its port."""
        return self.peer.rpartition(":")[0]

    def close(self) -> asyncio.Future[None]:
        """Close once all written bytes are sent; the future is done when the connection is gone."""
        self._closing = True
        self.stop_receiving()
        self._later.clear()
        self._transport.close()
        return self._lost

    def abort(self) -> None:
        self._transport.abort()

    def frame_refused(self, reason: str) -> None:
        self._give_up(reason)

    def buffer_updated(self, nbytes: int) -> None:
        self._turn_ends = time.monotonic() + _TURN_SECONDS
        super().buffer_updated(nbytes)

    def frame_received(self, frame: bytearray) -> None:
        if self._later:
            self._later.append(frame)
        elif time.monotonic() < self._turn_ends:
            self._handle(frame)
        else:
            self._later.append(frame)
            self._pace()
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._turn_ends = time.monotonic() + _TURN_SECONDS
        while self._later and time.monotonic() < self._turn_ends:
            self._handle(self._later.popleft())
        if self._later:
            asyncio.get_running_loop().call_soon(self._next_turn)
        self._pace()

    def _handle(self, frame: bytearray) -> None:
        if self._login is not None and self._is_unknown:
            self._receive_login(self._login, frame)
        else:
            self._receive(frame)

    def api_versions(self, error: Error = Error.NONE) -> m.ApiVersionsResponse:
        response = m.ApiVersionsResponse(
            error_code=error,
            api_keys=[
                m.ApiVersionsResponse.ApiVersion(
                    api_key=api.key, min_version=api.min_version, max_version=api.max_version
                )
                for api in self._apis.values()
            ],
        )
        if self._server.features is not None and not error:
            _add_features(response, self._server.features())
        return response

    def log_in(self, request: Request) -> Message:
        """Answer SaslHandshake and SaslAuthenticate."""
        assert self._login is not None
        if isinstance(request.body, m.SaslHandshakeRequest):
            return self._login.handshake(request.body, request.version)
        assert isinstance(request.body, m.SaslAuthenticateRequest)
        return self._login.authenticate(request.body)

    def _receive_login(self, login: ServerExchange, frame: bytearray) -> None:
        """Receive a frame of a client that has not logged in yet."""
        if login.awaits_bare_token:
            answer = login.bare_token(bytes(frame))
            if login.failure is None:
                self._transport.writelines(framed(answer, []))
        else:
            self._receive(frame)
        if login.failure is not None:
            self._give_up(login.failure)
        elif login.principal is not None:
            self._principal = login.principal
            self._is_unknown = False
            self._max_frame_bytes = self._server.max_frame_bytes

    def _receive(self, frame: bytearray) -> None:
        try:
            request = self._parse(frame)
        except Malformed as error:
            self._give_up(str(error))
            return
        if request is None:
            return
        try:
            answer = self._server.handlers[request.api.key](request)
        except CloseConnection as error:
            self._give_up(str(error))
        except Exception:
            self._failed(request)
        else:
            self._answer(request, answer, len(frame))

    def _parse(self, frame: bytearray) -> Request | None:
        """Return the request, or None if it was answered here. Raises Malformed."""
        key, version, correlation_id = peek_api(frame)
        api = self._apis.get(key)
        if api is None:
            raise Malformed(f"API key {key} is not served here")
        if self._is_unknown and key not in _ANYBODYS:
            raise Malformed(f"{api.name} was sent before the login")
        if not max(api.min_version, api.request.MIN_VERSION) <= version <= api.max_version:
            if key != API_VERSIONS:
                raise Malformed(f"{api.name} is not served in version {version}")
            # KIP-511: every client can read version 0 of the body.
            self._write(api, 0, correlation_id, self.api_versions(Error.UNSUPPORTED_VERSION))
            return None
        has_client_id = api.request_header_has_client_id(version)
        header = decode_request_header(frame, api.request_is_flexible(version), has_client_id)
        # As Kafka does: librdkafka 2.16 sends three bytes too many when it asks for all topics by Metadata v9 or later.
        body = api.request.decode(frame, version, header.body_offset, exactly=False)
        return Request(
            api, version, correlation_id, header.client_id, body, self, time.monotonic(), self.listener, self._principal
        )

    def _answer(self, request: Request, answer: Message | Awaitable[Message | None] | None, size: int) -> None:
        if answer is None:
            return
        if isinstance(answer, Message):
            if not self._slots:
                self._respond(request, answer)
                return
            future: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
            future.set_result(answer)
        else:
            future = asyncio.ensure_future(answer)
            self._server.waiting.add(future)
            future.add_done_callback(self._server.waiting.discard)
        slot = _Slot(request, future, size + _REQUEST_OVERHEAD_BYTES)
        self._slots.append(slot)
        self._unacknowledged += slot.cost
        future.add_done_callback(self._advance)
        self._pace()

    def _advance(self, _: object) -> None:
        """Write the responses that are next in order."""
        while self._slots and self._slots[0].answer.done():
            slot = self._slots.popleft()
            self._unacknowledged -= slot.cost
            try:
                response = slot.answer.result()
            except CloseConnection as error:
                self._give_up(str(error))
            except asyncio.CancelledError:
                self.close()
            except Exception:
                self._failed(slot.request)
            else:
                if response is not None:
                    self._respond(slot.request, response)
        self._pace()

    def _respond(self, request: Request, response: Message) -> None:
        try:
            self._write(request.api, request.version, request.correlation_id, response)
        except Exception:
            self._failed(request)

    def _write(self, api: Api, version: int, correlation_id: int, response: Message) -> None:
        pieces = encode_response(api, version, correlation_id, response)
        if not self._closing:
            self._transport.writelines(pieces)

    def pause_writing(self) -> None:
        self._writing_paused = True
        self._pace()

    def resume_writing(self) -> None:
        self._writing_paused = False
        self._pace()

    def _pace(self) -> None:
        """Apply back-pressure: read only while the client takes its responses and few enough requests wait."""
        too_much = self._unacknowledged > self._server.max_unacknowledged_bytes
        pause = self._writing_paused or too_much or bool(self._later)
        if pause == self._reading_paused or self._closing:
            return
        self._reading_paused = pause
        if pause:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _failed(self, request: Request) -> None:
        """Log the exception that is being handled, with its traceback, and close the connection."""
        name = f"{request.api.name} v{request.version}"
        log.exception("closed the connection from %s on %s: its %s failed here", self.peer, self.listener, name)
        self._finish()

    def _give_up(self, reason: str) -> None:
        if not self._closing and (left_out := self._server.complaints.count(time.monotonic())) is not None:
            more = f" ({left_out} like this were not logged)" if left_out else ""
            log.warning("closed the connection from %s on %s: %s%s", self.peer, self.listener, reason, more)
        self._finish()

    def _finish(self) -> None:
        self._slots.clear()
        self.close()


def _api_versions(request: Request) -> Message:
    """Answer a client, which from version 3 on has to name its software (KIP-511)."""
    body = request.body
    assert isinstance(body, m.ApiVersionsRequest)
    named = (body.client_software_name, body.client_software_version)
    is_named = request.version < _SOFTWARE_FROM or all(_SOFTWARE.fullmatch(each) for each in named)
    return request.connection.api_versions(Error.NONE if is_named else Error.INVALID_REQUEST)


def _add_features(response: m.ApiVersionsResponse, report: FeatureReport) -> None:
    response.supported_features = [
        m.ApiVersionsResponse.SupportedFeatureKey(name=name, min_version=low, max_version=high)
        for name, (low, high) in report.supported.items()
    ]
    response.finalized_features = [
        m.ApiVersionsResponse.FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
        for name, level in report.finalized.items()
    ]
    response.finalized_features_epoch = report.epoch
