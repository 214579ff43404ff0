"""One connection that asks one thing at a time, through `kio`: a codec that shares nothing with the cluster's own.

Every request is of a fixed version, named by its class: two targets are asked with the same bytes. A version that a
target does not have shows as `Closed` or as its error.
"""

from __future__ import annotations

import io
import itertools
import socket
import struct
import time
from functools import cache
from types import TracebackType
from typing import Any, Self, TypeVar

from kio.serial import entity_reader, entity_writer
from kio.static.protocol import RequestPayload, ResponsePayload

CLIENT_ID = "fencepost"
MAX_FRAME = 64 << 20

Response = TypeVar("Response", bound=ResponsePayload)

_reader: Any = cache(entity_reader)
_writer: Any = cache(entity_writer)


class NoAnswer(Exception):
    """The request was not answered; the sentence says how that showed."""


class Unanswered(NoAnswer):
    """Nothing came in time. The request may have been carried out, or still be."""


class Closed(NoAnswer):
    """The connection was refused, or ended before an answer."""


class Unreadable(NoAnswer):
    """An answer came that is not of the version asked for (kio knows no tagged fields but its own)."""


class RawConnection:
    """A blocking connection, opened at once. `timeout` in seconds bounds the opening and each call as a whole.

    After `Unanswered` the connection is closed: a late answer must not be taken for that of a later request.
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.peer = f"{host}:{port}"
        self.timeout = timeout
        self._correlation_ids = itertools.count(1)
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except TimeoutError:
            raise Unanswered(f"{self.peer} did not accept the connection within {timeout:g} s") from None
        except OSError as error:
            raise Closed(f"{self.peer} refused the connection: {error.strerror or error}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, request: RequestPayload, response: type[Response], timeout: float | None = None) -> Response:
        """The answer to `request`, read as `response`. NoAnswer if there is none."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        correlation_id = self._send(request, deadline)
        frame = self._receive(deadline)
        try:
            header, size = _reader(response.__header_schema__)(frame, 0)
            if header.correlation_id != correlation_id:
                raise ValueError(f"correlation id {header.correlation_id} in place of {correlation_id}")
            answer: Response = _reader(response)(frame, size)[0]
        except Exception as error:
            self.close()
            raise Unreadable(f"{self.peer} answered what is no {response.__name__}: {error!r}") from error
        return answer

    def send(self, request: RequestPayload) -> None:
        """For what is not answered (acks=0). Closed if the connection is gone."""
        self._send(request, time.monotonic() + self.timeout)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _send(self, request: RequestPayload, deadline: float) -> int:
        correlation_id = next(self._correlation_ids)
        frame = _encode(request, correlation_id)
        try:
            self._socket.settimeout(_left(deadline))
            self._socket.sendall(struct.pack(">i", len(frame)) + frame)
        except TimeoutError:
            raise self._unanswered() from None
        except OSError as error:
            raise self._ended(error) from None
        return correlation_id

    def _receive(self, deadline: float) -> bytes:
        (size,) = struct.unpack(">i", self._exactly(4, deadline))
        if not 0 < size <= MAX_FRAME:
            self.close()
            raise Unreadable(f"{self.peer} announced an answer of {size} bytes")
        return self._exactly(size, deadline)

    def _exactly(self, size: int, deadline: float) -> bytes:
        received = bytearray()
        while len(received) < size:
            try:
                self._socket.settimeout(_left(deadline))
                part = self._socket.recv(size - len(received))
            except TimeoutError:
                raise self._unanswered() from None
            except OSError as error:
                raise self._ended(error) from None
            if not part:
                raise self._ended(None)
            received += part
        return bytes(received)

    def _unanswered(self) -> Unanswered:
        self.close()
        return Unanswered(f"{self.peer} did not answer in time")

    def _ended(self, error: OSError | None) -> Closed:
        self.close()
        return Closed(f"{self.peer} closed the connection" + (f": {error.strerror or error}" if error else ""))


def _encode(request: RequestPayload, correlation_id: int) -> bytes:
    schema: Any = request.__header_schema__
    header = schema(
        request_api_key=request.__api_key__,
        request_api_version=request.__version__,
        correlation_id=correlation_id,
        client_id=CLIENT_ID,
    )
    out = io.BytesIO()
    _writer(schema)(out, header)
    _writer(type(request))(out, request)
    return out.getvalue()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
