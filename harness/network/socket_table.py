"""The TCP sockets of one process, from the kernel's table of the network that the *process* is in.

That is /proc/PID/net/tcp, which for a process in a container is another table than this machine's own; whose socket a
line of it is follows from the descriptors that the process has open.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv6Address
from pathlib import Path
from socket import AF_INET, inet_ntop

from harness.errors import InfrastructureError
from harness.network.addresses import Endpoint

PROC = Path("/proc")
TABLES = ("tcp", "tcp6")
_SOCKET = "socket:["


class State(Enum):
    """As far as anybody here asks."""

    ESTABLISHED = "01"
    LISTEN = "0A"
    OTHER = ""

    @classmethod
    def _missing_(cls, value: object) -> State:
        return cls.OTHER


@dataclass(frozen=True)
class Socket:
    local: Endpoint
    remote: Endpoint | None
    """None of one that listens."""
    state: State


def sockets_of(pid: int) -> list[Socket]:
    """All of a process; empty if it is gone. Raises InfrastructureError if it may not be looked at: that nothing was
    found would prove nothing then."""
    try:
        inodes = _inodes(pid)
        return [found for name in TABLES for found in _table(pid, name, inodes)] if inodes else []
    except PermissionError as error:
        raise InfrastructureError(
            f"the sockets of process {pid} cannot be read ({error}): whether it bypasses its links is not known; run "
            "fencepost as the user that its nodes run as, or as root"
        ) from error
    except OSError:  # it is gone, or a zombie, which is in no network any more
        return []


def _inodes(pid: int) -> set[str]:
    found = set()
    for entry in (PROC / str(pid) / "fd").iterdir():
        try:
            target = str(entry.readlink())
        except FileNotFoundError:  # closed meanwhile
            continue
        if target.startswith(_SOCKET):
            found.add(target[len(_SOCKET) : -1])
    return found


def _table(pid: int, name: str, inodes: set[str]) -> Iterator[Socket]:
    try:
        lines = (PROC / str(pid) / "net" / name).read_text().splitlines()
    except FileNotFoundError:  # a kernel without IPv6
        return
    for line in lines[1:]:
        _, local, remote, state, _, _, _, _, _, inode, *_ = line.split()
        if inode in inodes:
            far = _endpoint(remote)
            yield Socket(_endpoint(local), far if far.port else None, State(state))


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
