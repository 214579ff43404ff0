"""What really happens to a request at an address: one round trip, measured. The port says what is spoken there.

A Kafka-like server is asked for its API versions: the request is written by hand, since its version 0 never changes
and every one answers it. A ZooKeeper server is asked what it is; at the port of its ensemble, for its present vote.
"""

from __future__ import annotations

import itertools
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from faults.capabilities import Reach
from harness.network.addresses import ELECTION_PORT, ZOOKEEPER_PORT, Endpoint
from harness.network.zookeeper import SRVR, vote_question

CORRELATION_ID = 0x66656E63
_BODY = struct.pack(">hhih", 18, 0, CORRELATION_ID, -1)
API_VERSIONS = struct.pack(">i", len(_BODY)) + _BODY

Connect = Callable[[float], socket.socket]

_askers = itertools.count()


@dataclass(frozen=True)
class RoundTrip:
    reach: Reach
    elapsed_ms: float


@dataclass(frozen=True)
class _Question:
    text: bytes
    enough: int
    """Bytes of an answer that can be judged."""
    answered: Callable[[bytes], bool]


def round_trip(endpoint: Endpoint, timeout: float, connect: Connect | None = None) -> RoundTrip:
    """Ask whatever listens at `endpoint`, by its port; `timeout` in seconds bounds the whole.

    `connect` is given the seconds that are left, where the address itself is not to be dialled from here.
    """
    began = time.monotonic()
    dial = connect or (lambda seconds: socket.create_connection(endpoint, seconds))
    reach = _ask(dial, _question(endpoint.port), began + timeout)
    return RoundTrip(reach, round((time.monotonic() - began) * 1000, 2))


def _question(port: int) -> _Question:
    if port == ZOOKEEPER_PORT:
        return _Question(SRVR, 4, lambda answer: True)
    if port == ELECTION_PORT:
        return _Question(vote_question(next(_askers)), 4, lambda answer: True)
    return _Question(API_VERSIONS, 8, lambda answer: struct.unpack_from(">ii", answer)[1] == CORRELATION_ID)


def _ask(connect: Connect, question: _Question, deadline: float) -> Reach:
    try:
        with connect(_left(deadline)) as connection:
            connection.sendall(question.text)
            received = b""
            while len(received) < question.enough:
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
    return Reach.ANSWERED if question.answered(received) else Reach.CLOSED


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
