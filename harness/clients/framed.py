"""A blocking connection that sends and receives frames: four bytes of length, then so many bytes.

Kafka frames its messages so, and so does ZooKeeper.
"""

from __future__ import annotations

import socket
import ssl
import struct
import time
from types import TracebackType
from typing import Self

from fencepost.harness.network.tls import over_tls
from fencepost.harness.wire.no_answer import Closed, NoAnswer, NotReached, Refused, Unanswered, Unreadable

MAX_FRAME = 64 << 20


class FramedConnection:
    """Opened at once, over TLS if there is any. `timeout` in seconds bounds the opening, and then the handshake; each
    frame has a deadline of its own, monotonic.

    After `Unanswered` the connection is closed: a late answer must not be taken for that of a later request.
    """

    def __init__(self, host: str, port: int, timeout: float, tls: ssl.SSLContext | None = None) -> None:
        self.peer = f"{host}:{port}"
        self._reached = False
        """The node sent something over this connection."""
        try:
            self._socket: socket.socket = socket.create_connection((host, port), timeout)
        except TimeoutError:
            raise Unanswered(f"{self.peer} did not accept the connection within {timeout:g} s") from None
        except OSError as error:
            raise NotReached(f"{self.peer} refused the connection: {error.strerror or error}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._secure(tls, host, timeout)

    def send_frames(self, frames: list[bytes], deadline: float) -> None:
        try:
            self._socket.settimeout(_left(deadline))
            self._socket.sendall(b"".join(struct.pack(">i", len(frame)) + frame for frame in frames))
        except TimeoutError:
            raise self._unanswered() from None
        except OSError as error:
            raise self._ended(error) from None

    def receive_frame(self, deadline: float) -> bytes:
        (size,) = struct.unpack(">i", self._exactly(4, deadline))
        if not 0 < size <= MAX_FRAME:
            raise self.unreadable(f"announced an answer of {size} bytes")
        return self._exactly(size, deadline)

    def unreadable(self, what: str) -> Unreadable:
        """Close, since nothing that follows can be trusted; gives the error to raise."""
        self.close()
        return Unreadable(f"{self.peer} {what}")

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _secure(self, tls: ssl.SSLContext | None, host: str, timeout: float) -> None:
        try:
            self._socket = over_tls(self._socket, tls, host, timeout)
        except TimeoutError:
            raise self._unanswered() from None
        except OSError as error:
            raise self._ended(error) from None
        self._reached = tls is not None

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
            self._reached = True
            received += part
        return bytes(received)

    def _unanswered(self) -> Unanswered:
        self.close()
        return Unanswered(f"{self.peer} did not answer in time")

    def _ended(self, error: OSError | None) -> NoAnswer:
        self.close()
        if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
            return Refused(f"{self.peer} and the harness agree on no TLS: {error.reason or error}")
        how = Closed if self._reached else NotReached
        return how(f"{self.peer} closed the connection" + (f": {error.strerror or error}" if error else ""))


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
