"""Bytes counted and timed through one stream of a link, and connections that are kept open to see what becomes of them.

Kafka-like servers are sent requests of any size, one at a time, on one connection. A ZooKeeper server closes its
connection after each answer: it is asked to resume a session that never was, with a password as long as is wanted, or
for all its figures. The ports of an ensemble lend themselves to neither.
"""

from __future__ import annotations

import socket
import struct
import time
from contextlib import suppress

from fencepost.faults.capabilities import CapabilityError, ProbeResult, Stream, Transfer
from fencepost.harness.network.addresses import ELECTION_PORT, QUORUM_PORT, ZOOKEEPER_PORT
from fencepost.harness.network.roundtrip import API_VERSIONS, SMALLEST, Connect, api_versions, left, met
from fencepost.harness.network.zookeeper import MNTR, SMALLEST_RESUMPTION, resumption

LARGEST = 8000
"""Bytes of the largest request that is sent."""
CHUNK = 1 << 16


def transfer(
    connect: Connect, port: int, stream: Stream, size: int, timeout: float, *, at_once: bool = False
) -> Transfer:
    """Bring `size` bytes through one stream of a new connection. CapabilityError if that cannot be done there."""
    if port in (ELECTION_PORT, QUORUM_PORT):
        raise CapabilityError(
            "bytes between servers of an ensemble cannot be counted: a server answers only one request there"
        )
    smallest = SMALLEST_RESUMPTION if port == ZOOKEEPER_PORT else SMALLEST
    began = time.monotonic()
    asked = max(size, smallest) if stream is Stream.REQUESTS else size
    talk = (_ZooKeeperTalk if port == ZOOKEEPER_PORT else _KafkaTalk)(stream, asked, began + timeout)
    try:
        with connect(left(talk.deadline)) as connection:
            reach = talk.hold_with(connection, at_once)
    except OSError as error:
        reach = met(error)
    return Transfer(reach, asked, talk.passed, talk.trips, round((time.monotonic() - began) * 1000, 2))


class HeldConnection:
    """Implements `fencepost.faults.capabilities.OpenConnection` for a Kafka-like server."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received = b""
        self._asked = False
        self._end: ProbeResult | None = None

    def ask(self) -> None:
        if not self._asked and self._end is None:
            self._asked, self._received = True, b""
            try:
                self._connection.sendall(API_VERSIONS)
            except OSError as error:
                self._end = met(error)

    def fate(self, timeout: float) -> ProbeResult:
        deadline = time.monotonic() + timeout
        try:
            while self._end is None and not (self._asked and _whole(self._received)):
                self._connection.settimeout(max(0.001, deadline - time.monotonic()))
                part = self._connection.recv(CHUNK)
                self._received += part
                if not part:
                    self._end = ProbeResult.CLOSED
        except TimeoutError:
            return ProbeResult.SILENT if self._asked else ProbeResult.ANSWERED
        except OSError as error:
            self._end = met(error)
        self._asked = False
        return self._end or ProbeResult.ANSWERED

    def close(self) -> None:
        self._connection.close()


def hold(connect: Connect, port: int, timeout: float) -> HeldConnection | None:
    if port in (ZOOKEEPER_PORT, ELECTION_PORT, QUORUM_PORT):
        return None
    with suppress(OSError):
        held = HeldConnection(connect(timeout))
        held.ask()
        if held.fate(timeout) is ProbeResult.ANSWERED:
            return held
        held.close()
    return None


class _Talk:
    """A counted conversation."""

    def __init__(self, stream: Stream, asked: int, deadline: float) -> None:
        self.stream = stream
        self.asked = asked
        self.deadline = deadline
        self.passed = 0
        self.trips = 0

    def _say(self, connection: socket.socket, text: bytes) -> None:
        connection.settimeout(left(self.deadline))
        connection.sendall(text)
        self.trips += 1

    def _hear(self, connection: socket.socket) -> bytes:
        """Receive a part; empty once the connection was closed."""
        connection.settimeout(left(self.deadline))
        part = connection.recv(CHUNK)
        if self.stream is Stream.REPLIES:
            self.passed += len(part)
        return part


class _KafkaTalk(_Talk):
    def hold_with(self, connection: socket.socket, at_once: bool) -> ProbeResult:
        while self.passed < self.asked:
            requests = self._rest() if at_once and self.trips else [self._request(self.asked - self.passed, at_once)]
            self._say(connection, b"".join(requests))
            for request in requests:
                if not self._answered(connection):
                    return ProbeResult.CLOSED
                if self.stream is Stream.REQUESTS:
                    self.passed += len(request)
        return ProbeResult.ANSWERED

    def _rest(self) -> list[bytes]:
        """All requests that are still wanted. Of replies as many as are the first one."""
        if self.stream is Stream.REPLIES:
            return [API_VERSIONS] * -(-(self.asked - self.passed) // len(self._answer))
        requests, rest = [], self.asked - self.passed
        while rest:
            requests.append(_next(rest))
            rest -= len(requests[-1])
        return requests

    def _request(self, rest: int, small: bool) -> bytes:
        if self.stream is Stream.REPLIES or (small and rest >= 2 * SMALLEST):
            return API_VERSIONS
        return _next(rest)

    _answer = b""
    _more = b""

    def _answered(self, connection: socket.socket) -> bool:
        """Receive one whole answer, and keep the bytes of the next. Return False if the connection was closed."""
        received = self._more
        while not _whole(received):
            part = self._hear(connection)
            if not part:
                return False
            received += part
        end = 4 + int(struct.unpack_from(">i", received)[0])
        self._answer, self._more = received[:end], received[end:]
        return True


class _ZooKeeperTalk(_Talk):
    def hold_with(self, connection: socket.socket, at_once: bool) -> ProbeResult:
        """One request is all that is answered on a connection."""
        self._say(connection, resumption(self.asked) if self.stream is Stream.REQUESTS else MNTR)
        heard = 0
        while part := self._hear(connection):
            heard += len(part)
        if self.stream is Stream.REQUESTS and heard:
            self.passed = self.asked
        return ProbeResult.ANSWERED if self.passed >= self.asked else ProbeResult.CLOSED


def _next(left_over: int) -> bytes:
    """A request such that the rest of so many bytes are whole requests, too."""
    if left_over <= LARGEST:
        return api_versions(left_over)
    return api_versions(min(LARGEST, left_over - SMALLEST))


def _whole(answer: bytes) -> bool:
    return len(answer) >= 4 and len(answer) - 4 >= int(struct.unpack_from(">i", answer)[0])
