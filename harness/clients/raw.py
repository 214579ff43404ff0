"""One connection that asks one thing at a time, through `kio`: a codec that shares nothing with the cluster's own.

A request is of the version that its class names. `newest` chooses one that the node has, too; what the node does not
have is not sent (`NotOffered`).
"""

from __future__ import annotations

import io
import itertools
import time
from collections.abc import Callable
from functools import cache, lru_cache
from ssl import SSLContext
from typing import Any, Protocol, TypeVar

from kio.schema.api_versions.v0 import ApiVersionsRequest, ApiVersionsResponse
from kio.serial import entity_reader, entity_writer
from kio.static.protocol import RequestPayload, ResponsePayload

from fencepost.harness.clients.framed import FramedConnection
from fencepost.harness.wire.no_answer import Closed, NoAnswer, NotOffered, Unanswered, Unreadable
from fencepost.harness.wire.versions import CLIENT_ID, Api, Offered, require

__all__ = ["Closed", "NoAnswer", "NotOffered", "RawConnection", "Unanswered", "Unreadable"]

Response = TypeVar("Response", bound=ResponsePayload)


class Recorder(Protocol):
    """The receiver of the requests that a connection sends, and of their answers."""

    def record(self, node: str, request: RequestPayload, call: Callable[[], Response]) -> Response: ...


_reader: Any = cache(entity_reader)
_writer: Any = cache(entity_writer)


class RawConnection(FramedConnection):
    """A blocking connection, opened at once. `timeout` in seconds bounds the opening and each call as a whole.

    kio knows no tagged fields but its own, so an answer with others is `Unreadable`.
    """

    def __init__(self, host: str, port: int, timeout: float, tls: SSLContext | None = None) -> None:
        super().__init__(host, port, timeout, tls)
        self.timeout = timeout
        self.node = self.peer
        """The name of the node in the journal."""
        self.recorder: Recorder | None = None
        self._correlation_ids = itertools.count(1)
        self._offered: Offered | None = None

    def newest(self, api: Api) -> Any:
        """Return kio's module of the newest version of a request that both sides have. NoAnswer if there is none."""
        return api.newest(self.offered(), self.peer)

    def newest_version(self, api: Api) -> int:
        """Return the newest version of a request that both sides have. NoAnswer if there is none."""
        return api.newest_version(self.offered(), self.peer)

    def offered(self) -> Offered:
        """Return the versions that the node takes. NoAnswer if it does not say."""
        return self._versions(time.monotonic() + self.timeout)

    def call(self, request: RequestPayload, response: type[Response], timeout: float | None = None) -> Response:
        """Return the answer to `request`, read as `response`. NoAnswer if there is none, or if it is not offered."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        require(self._versions(deadline), self.peer, request)
        if self.recorder is not None:
            return self.recorder.record(self.node, request, lambda: self._call(request, response, deadline))
        return self._call(request, response, deadline)

    def send(self, request: RequestPayload) -> None:
        """Send what is not answered (acks=0). Closed if the connection is gone."""
        deadline = time.monotonic() + self.timeout
        require(self._versions(deadline), self.peer, request)
        self._send(request, deadline)

    def _versions(self, deadline: float) -> Offered:
        """Return what the node at the other end takes; it is asked once in the life of a connection."""
        if self._offered is None:
            answer = self._call(ApiVersionsRequest(), ApiVersionsResponse, deadline)
            self._offered = {int(each.api_key): (each.min_version, each.max_version) for each in answer.api_keys}
        return self._offered

    def _call(self, request: RequestPayload, response: type[Response], deadline: float) -> Response:
        correlation_id = self._send(request, deadline)
        frame = self.receive_frame(deadline)
        try:
            header, size = _reader(response.__header_schema__)(frame, 0)
            if header.correlation_id != correlation_id:
                raise ValueError(f"correlation id {header.correlation_id} in place of {correlation_id}")
            answer: Response = _reader(response)(frame, size)[0]
        except Exception as error:
            raise self.unreadable(f"answered what is no {response.__name__}: {error!r}") from error
        return answer

    def _send(self, request: RequestPayload, deadline: float) -> int:
        correlation_id = next(self._correlation_ids)
        self.send_frames([_encode(request, correlation_id)], deadline)
        return correlation_id


def _encode(request: RequestPayload, correlation_id: int) -> bytes:
    schema: Any = request.__header_schema__
    header = _header(schema, request.__api_key__, request.__version__)
    return header[:4] + correlation_id.to_bytes(4, "big") + header[8:] + _body(request)


@cache
def _header(schema: Any, api_key: int, version: int) -> bytes:
    """Return a header with correlation id 0, which stands behind the key and the version, two bytes each."""
    return _bytes(schema(request_api_key=api_key, request_api_version=version, correlation_id=0, client_id=CLIENT_ID))


def _bytes(entity: Any) -> bytes:
    out = io.BytesIO()
    _writer(type(entity))(out, entity)
    return out.getvalue()


_body: Callable[[Any], bytes] = lru_cache(maxsize=64)(_bytes)
"""The bytes of a request. Observers send the same few over and over."""
