"""The TCP sockets of one process, from the kernel's table of the network that the *process* is in.

That is /proc/PID/net/tcp, which for a process in a container is another table than this machine's own; whose socket a
line of it is follows from the descriptors that the process has open.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv6Address
from pathlib import Path
from socket import AF_INET, inet_ntop
from typing import NamedTuple

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint

PROC = Path("/proc")
TABLES = ("tcp", "tcp6")
_SOCKET = "socket:["
_NO_INODE = "0"
"""A connection that no process has any more has it, such as one in TIME_WAIT: a busy machine has thousands of them."""


class SocketState(Enum):
    """As far as anybody here asks."""

    ESTABLISHED = "01"
    LISTEN = "0A"
    OTHER = ""

    @classmethod
    def _missing_(cls, value: object) -> SocketState:
        return cls.OTHER


class _Row(NamedTuple):
    """One line of a table, as the kernel writes it."""

    inode: str
    local: str
    remote: str
    state: str


@dataclass(frozen=True)
class TcpSocket:
    local: Endpoint
    remote: Endpoint | None
    """None of one that listens."""
    state: SocketState


class SocketTables:
    """The socket tables of one look at the machine: each network namespace is read once, for all its processes."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, _Row]] = {}

    def of(self, pid: int) -> Mapping[str, _Row]:
        """Return the rows of the network that a process is in, by inode. OSError if the process is gone."""
        namespace = str((PROC / str(pid) / "ns" / "net").readlink())
        if namespace not in self._rows:
            self._rows[namespace] = {row.inode: row for name in TABLES for row in _rows(pid, name)}
        return self._rows[namespace]


def sockets_of(pid: int, tables: SocketTables | None = None) -> list[TcpSocket]:
    """Return all sockets of a process; none if it is gone.

    `tables` are shared by the processes that are looked at together. Raises InfrastructureError if the process may not
    be looked at: an empty list would prove nothing then.
    """
    try:
        rows = (tables or SocketTables()).of(pid)
        inodes = _inodes(pid)
        return [_socket(row) for inode, row in rows.items() if inode in inodes]
    except PermissionError as error:
        raise InfrastructureError(
            f"the sockets of process {pid} cannot be read ({error}): whether it bypasses its links is not known; run "
            "fencepost as the user that its nodes run as, or as root"
        ) from error
    except OSError:  # it is gone, or a zombie, which is in no network any more
        return []


def _inodes(pid: int) -> set[str]:
    inodes = set()
    for entry in (PROC / str(pid) / "fd").iterdir():
        try:
            target = str(entry.readlink())
        except FileNotFoundError:  # closed meanwhile
            continue
        if target.startswith(_SOCKET):
            inodes.add(target[len(_SOCKET) : -1])
    return inodes


def _rows(pid: int, name: str) -> Iterator[_Row]:
    try:
        lines = (PROC / str(pid) / "net" / name).read_text().splitlines()
    except FileNotFoundError:  # a kernel without IPv6
        return
    for line in lines[1:]:
        _, local, remote, state, _, _, _, _, _, inode, *_ = line.split()
        if inode != _NO_INODE:
            yield _Row(inode, local, remote, state)


def _socket(row: _Row) -> TcpSocket:
    far = _endpoint(row.remote)
    return TcpSocket(_endpoint(row.local), far if far.port else None, SocketState(row.state))


def _endpoint(text: str) -> Endpoint:
    """`3C00007F:2382`, of which the address is in words of this machine's byte order."""
    address, _, port = text.partition(":")
    words = (int(address[at : at + 8], 16) for at in range(0, len(address), 8))
    packed = b"".join(struct.pack("=I", word) for word in words)
    if len(packed) == 4:
        return Endpoint(inet_ntop(AF_INET, packed), int(port, 16))
    wide = IPv6Address(packed)
    # How an IPv4 address looks on an IPv6 socket, which a JVM may open.
    return Endpoint(str(wide.ipv4_mapped or wide), int(port, 16))
