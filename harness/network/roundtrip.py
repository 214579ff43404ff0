"""What really happens to a request at an address: one ApiVersions round trip, measured.

The request is written by hand, since its version 0 never changes and every Kafka-like server answers it.
"""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass
from enum import StrEnum

from harness.network.addresses import Endpoint

CORRELATION_ID = 0x66656E63
_BODY = struct.pack(">hhih", 18, 0, CORRELATION_ID, -1)
API_VERSIONS = struct.pack(">i", len(_BODY)) + _BODY


class Answer(StrEnum):
    ANSWERED = "answered"
    REFUSED = "refused"
    """Nobody listens."""
    CLOSED = "closed"
    """The connection was accepted and then ended, as by a proxy whose upstream is dead."""
    SILENT = "silent"
    """The connection stands, and nothing came back in time."""


@dataclass(frozen=True)
class RoundTrip:
    answer: Answer
    elapsed_ms: float


def round_trip(endpoint: Endpoint, timeout: float) -> RoundTrip:
    """Ask `endpoint` for its API versions; `timeout` in seconds bounds the whole."""
    began = time.monotonic()
    answer = _ask(endpoint, began + timeout)
    return RoundTrip(answer, round((time.monotonic() - began) * 1000, 2))


def _ask(endpoint: Endpoint, deadline: float) -> Answer:
    try:
        with socket.create_connection(endpoint, _left(deadline)) as connection:
            connection.sendall(API_VERSIONS)
            received = b""
            while len(received) < 8:
                connection.settimeout(_left(deadline))
                part = connection.recv(4096)
                if not part:
                    return Answer.CLOSED
                received += part
    except ConnectionRefusedError:
        return Answer.REFUSED
    except TimeoutError:
        return Answer.SILENT
    except ConnectionError:
        return Answer.CLOSED
    _, correlation_id = struct.unpack_from(">ii", received)
    return Answer.ANSWERED if correlation_id == CORRELATION_ID else Answer.CLOSED


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
