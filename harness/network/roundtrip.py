"""One measured round trip to an address; the port determines the protocol.

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
from ssl import SSLError

from fencepost.faults.capabilities import ProbeResult, RoundTrip
from fencepost.harness.network.addresses import ELECTION_PORT, ZOOKEEPER_PORT, Endpoint
from fencepost.harness.network.zookeeper import SRVR, vote_question

CORRELATION_ID = 0x66656E63
HTTP_STATUS = slice(9, 12)
"""The status code in the first line of an answer: `HTTP/1.1 200 OK`."""
SMALLEST = 14
"""Bytes of the smallest request."""

Connect = Callable[[float], socket.socket]
"""Opens a connection; seconds until TimeoutError."""

_askers = itertools.count()


def api_versions(size: int = SMALLEST) -> bytes:
    """The request, made so many bytes long by the name that the client gives itself."""
    header = struct.pack(">ihhi", size - 4, 18, 0, CORRELATION_ID)
    name = size - SMALLEST
    return header + (struct.pack(">h", name) + b"x" * name if name else struct.pack(">h", -1))


API_VERSIONS = api_versions()


@dataclass(frozen=True)
class _Question:
    text: bytes
    enough: int
    """Bytes of an answer that can be judged."""
    answered: Callable[[bytes], bool]
    closes: bool = False
    """True if the server closes the connection after its answer."""


def round_trip(
    endpoint: Endpoint, timeout: float, connect: Connect | None = None, asked: bytes | None = None
) -> RoundTrip:
    """Ask whatever listens at `endpoint`, by its port; `timeout` in seconds bounds the whole.

    `asked` is what is asked in place of that; if it is empty, a connection is answer enough.
    `connect` is given the seconds that are left, where the address itself is not to be dialled from here.
    """
    began = time.monotonic()
    dial = connect or (lambda seconds: socket.create_connection(endpoint, seconds))
    question = _question(endpoint.port) if asked is None else _own(asked)
    reach = _ask(dial, question, began + timeout)
    return RoundTrip(reach, round((time.monotonic() - began) * 1000, 2), question.closes)


def _own(asked: bytes) -> _Question:
    """Return a question of a target. An answer of HTTP counts as one if it is a success."""
    if asked.startswith((b"GET ", b"HEAD ")):
        return _Question(asked, HTTP_STATUS.stop, lambda answer: answer[HTTP_STATUS].startswith(b"2"))
    return _Question(asked, int(bool(asked)), lambda answer: True)


def _question(port: int) -> _Question:
    if port == ZOOKEEPER_PORT:
        return _Question(SRVR, 4, lambda answer: True, closes=True)
    if port == ELECTION_PORT:
        return _Question(vote_question(next(_askers)), 4, lambda answer: True)
    return _Question(API_VERSIONS, 8, lambda answer: struct.unpack_from(">ii", answer)[1] == CORRELATION_ID)


def _ask(connect: Connect, question: _Question, deadline: float) -> ProbeResult:
    try:
        with connect(left(deadline)) as connection:
            connection.sendall(question.text)
            received = b""
            while len(received) < question.enough:
                connection.settimeout(left(deadline))
                part = connection.recv(4096)
                if not part:
                    return ProbeResult.CLOSED
                received += part
    except OSError as error:
        return met(error)
    return ProbeResult.ANSWERED if question.answered(received) else ProbeResult.CLOSED


def met(error: OSError) -> ProbeResult:
    """Return the result for a connection that ended by this error; raise any other error."""
    match error:
        case ConnectionRefusedError():
            return ProbeResult.REFUSED
        case TimeoutError():
            return ProbeResult.SILENT
        case ConnectionResetError() | BrokenPipeError():
            return ProbeResult.RESET
        case ConnectionError() | SSLError():
            return ProbeResult.CLOSED
    raise error


def left(deadline: float) -> float:
    """Seconds until the monotonic deadline; TimeoutError when it is over."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
