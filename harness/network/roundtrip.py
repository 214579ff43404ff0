"""What really happens to a request at an address: one ApiVersions round trip, measured.

The request is written by hand, since its version 0 never changes and every Kafka-like server answers it.
"""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass

from faults.capabilities import Reach
from harness.network.addresses import Endpoint

CORRELATION_ID = 0x66656E63
_BODY = struct.pack(">hhih", 18, 0, CORRELATION_ID, -1)
API_VERSIONS = struct.pack(">i", len(_BODY)) + _BODY


@dataclass(frozen=True)
class RoundTrip:
    reach: Reach
    elapsed_ms: float


def round_trip(endpoint: Endpoint, timeout: float) -> RoundTrip:
    """Ask `endpoint` for its API versions; `timeout` in seconds bounds the whole."""
    began = time.monotonic()
    reach = _ask(endpoint, began + timeout)
    return RoundTrip(reach, round((time.monotonic() - began) * 1000, 2))


def _ask(endpoint: Endpoint, deadline: float) -> Reach:
    try:
        with socket.create_connection(endpoint, _left(deadline)) as connection:
            connection.sendall(API_VERSIONS)
            received = b""
            while len(received) < 8:
                connection.settimeout(_left(deadline))
                part = connection.recv(4096)
                if not part:
                    return Reach.CLOSED
                received += part
    except ConnectionRefusedError:
        return Reach.REFUSED
    except TimeoutError:
        return Reach.SILENT
    except ConnectionError:
        return Reach.CLOSED
    _, correlation_id = struct.unpack_from(">ii", received)
    return Reach.ANSWERED if correlation_id == CORRELATION_ID else Reach.CLOSED


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
