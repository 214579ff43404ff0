"""The sockets of one process, read from the kernel's table of the network that it is in."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network import socket_table
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.socket_table import SocketState, SocketTables, TcpSocket, sockets_of

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
TCP = (
    "   0: 04D5D50A:2382 00000000:0000 0A 00000000:00000000 00:00000000 00000000 10001 0 101 1 0 100 0 0 10 0\n"
    "   1: 0100007F:D431 01683C7F:2382 01 00000000:00000000 00:00000000 00000000 10001 0 102 1 0 20 4 30 10 -1\n"
    "   2: 0100007F:D432 01683C7F:2382 01 00000000:00000000 00:00000000 00000000 10001 0 999 1 0 20 4 30 10 -1\n"
)
TCP6 = (
    "   0: 0000000000000000FFFF00000100007F:D433 0000000000000000FFFF000005683C7F:2382 08 "
    "00000000:00000000 00:00000000 00000000 10001 0 103 1 0 20 4 30 10 -1\n"
)


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Process 4711 in a network of its own, with three sockets and a file; a fourth socket is that of another."""
    monkeypatch.setattr(socket_table, "PROC", tmp_path)
    (tmp_path / "4711" / "fd").mkdir(parents=True)
    (tmp_path / "4711" / "net").mkdir()
    (tmp_path / "4711" / "ns").mkdir()
    (tmp_path / "4711" / "ns" / "net").symlink_to("net:[4026531840]")
    for number, target in enumerate(["/dev/null", "socket:[101]", "socket:[102]", "socket:[103]"]):
        (tmp_path / "4711" / "fd" / str(number)).symlink_to(target)
    (tmp_path / "4711" / "net" / "tcp").write_text(HEAD + TCP)
    (tmp_path / "4711" / "net" / "tcp6").write_text(HEAD + TCP6)
    return tmp_path


def test_the_table_is_that_of_the_network_that_the_process_is_in(proc: Path) -> None:
    assert sockets_of(4711) == [
        TcpSocket(Endpoint("10.213.213.4", 9090), None, SocketState.LISTEN),
        TcpSocket(Endpoint("127.0.0.1", 54321), Endpoint("127.60.104.1", 9090), SocketState.ESTABLISHED),
        TcpSocket(Endpoint("127.0.0.1", 54323), Endpoint("127.60.104.5", 9090), SocketState.OTHER),
    ]


def test_one_look_reads_the_table_of_a_network_once_for_all_its_processes(proc: Path) -> None:
    tables = SocketTables()
    first = sockets_of(4711, tables)
    (proc / "4711" / "net" / "tcp").write_text(HEAD)
    assert sockets_of(4711, tables) == first
    assert len(sockets_of(4711)) < len(first)


def test_a_kernel_without_ipv6_has_one_table_less(proc: Path) -> None:
    (proc / "4711" / "net" / "tcp6").unlink()
    assert len(sockets_of(4711)) == 2


def test_a_process_that_is_gone_has_no_sockets(proc: Path) -> None:
    assert sockets_of(4712) == []


def test_that_nothing_may_be_looked_at_is_not_taken_for_nothing_found(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int) -> set[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket_table, "_inodes", refuse)
    with pytest.raises(InfrastructureError, match="the sockets of process 4711 cannot be read"):
        sockets_of(4711)


def test_a_connection_of_this_process_is_found_with_both_its_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        found = sockets_of(os.getpid())
        assert (
            TcpSocket(Endpoint(*client.getsockname()), Endpoint(*server.getsockname()), SocketState.ESTABLISHED)
            in found
        )
        assert TcpSocket(Endpoint(*server.getsockname()), None, SocketState.LISTEN) in found
