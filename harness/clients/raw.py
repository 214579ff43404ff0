"""One connection that asks one thing at a time, through `kio`: a codec that shares nothing with the cluster's own.

Every request is of a fixed version, named by its class: two targets are asked with the same bytes. A version that a
target does not have shows as `Closed` or as its error.
"""

from __future__ import annotations

import io
import itertools
import time
from functools import cache
from typing import Any, TypeVar

from kio.serial import entity_reader, entity_writer
from kio.static.protocol import RequestPayload, ResponsePayload

from harness.clients.framed import Closed, FramedConnection, NoAnswer, Unanswered, Unreadable

__all__ = ["Closed", "NoAnswer", "RawConnection", "Unanswered", "Unreadable"]

CLIENT_ID = "fencepost"

Response = TypeVar("Response", bound=ResponsePayload)

_reader: Any = cache(entity_reader)
_writer: Any = cache(entity_writer)


class RawConnection(FramedConnection):
    """A blocking connection, opened at once. `timeout` in seconds bounds the opening and each call as a whole.

    kio knows no tagged fields but its own, so an answer with others is `Unreadable`.
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        super().__init__(host, port, timeout)
        self.timeout = timeout
        self._correlation_ids = itertools.count(1)

    def call(self, request: RequestPayload, response: type[Response], timeout: float | None = None) -> Response:
        """The answer to `request`, read as `response`. NoAnswer if there is none."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
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

    def send(self, request: RequestPayload) -> None:
        """For what is not answered (acks=0). Closed if the connection is gone."""
        self._send(request, time.monotonic() + self.timeout)

    def _send(self, request: RequestPayload, deadline: float) -> int:
        correlation_id = next(self._correlation_ids)
        self.send_frames([_encode(request, correlation_id)], deadline)
        return correlation_id


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
