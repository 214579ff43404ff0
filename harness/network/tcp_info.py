"""How many bytes each TCP connection has received, from the kernel (sock_diag, as `ss -ti` asks it).

The socket tables in /proc tell what waits to be read; what a process has read and not passed on shows in this alone.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
REQUEST_AND_DUMP = 0x301
ERROR, DONE = 2, 3
INFO = 2
"""INET_DIAG_INFO: requested as a bit, returned as an attribute that holds `struct tcp_info`."""
BYTES_RECEIVED = 128
"""Its offset there."""
ESTABLISHED, CLOSE_WAIT = 1, 8
STATES = 1 << ESTABLISHED | 1 << CLOSE_WAIT
HEADER = struct.Struct("=IHHII")
ATTRIBUTE = struct.Struct("=HH")
MESSAGE = 72
"""Bytes of `struct inet_diag_msg`."""
CHUNK = 1 << 17
TIMEOUT_S = 5.0


@dataclass(frozen=True)
class ReceivedBytes:
    local: Endpoint
    remote: Endpoint
    bytes: int


def sock_diag() -> socket.socket:
    """Return a sock_diag socket of the network namespace of this process. Raises OSError."""
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)


def received(kernel: socket.socket) -> Iterator[ReceivedBytes]:
    """Yield the received bytes of every open IPv4 connection, half-closed ones included.

    `kernel` is a `sock_diag()`, from wherever the connections are. Raises OSError, or InfrastructureError.
    """
    request = struct.pack("=BBBBI", socket.AF_INET, socket.IPPROTO_TCP, 1 << (INFO - 1), 0, STATES) + bytes(48)
    message = HEADER.pack(HEADER.size + len(request), SOCK_DIAG_BY_FAMILY, REQUEST_AND_DUMP, 1, 0) + request
    kernel.settimeout(TIMEOUT_S)
    kernel.send(message)
    while True:
        for kind, body in _messages(kernel.recv(CHUNK)):
            if kind == DONE:
                return
            if kind == ERROR:
                raise InfrastructureError(
                    f"the kernel refused to list TCP connections (sock_diag error {body[:4].hex()})"
                )
            yield _read(body)


def _messages(answer: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset < len(answer):
        length, kind, *_ = HEADER.unpack_from(answer, offset)
        yield kind, answer[offset + HEADER.size : offset + length]
        offset += _aligned(length)


def _read(body: bytes) -> ReceivedBytes:
    own_port, other_port = struct.unpack_from(">HH", body, 4)
    own, other = socket.inet_ntoa(body[8:12]), socket.inet_ntoa(body[24:28])
    count, offset = 0, MESSAGE
    while offset + ATTRIBUTE.size <= len(body):
        length, kind = ATTRIBUTE.unpack_from(body, offset)
        if kind == INFO:
            (count,) = struct.unpack_from("=Q", body, offset + ATTRIBUTE.size + BYTES_RECEIVED)
        offset += _aligned(length)
    if body[1] == CLOSE_WAIT:
        count -= 1  # The kernel counts the end of a stream as a byte of it.
    return ReceivedBytes(Endpoint(own, own_port), Endpoint(other, other_port), count)


def _aligned(length: int) -> int:
    return (length + 3) & ~3
