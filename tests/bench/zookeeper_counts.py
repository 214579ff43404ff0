"""The counters of the ZooKeeper servers of a cluster: watches that they hold, requests, transactions."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fencepost.harness.network.addresses import ZOOKEEPER_PORT
from tests.bench.clusters import Started


@dataclass(frozen=True)
class Counts:
    """The counters of all servers together. `requests` are all that arrived, pings among them; `transactions` are those
    that changed something: one for each write, multi, and begin or end of a session."""

    watches: int
    requests: int
    transactions: int

    def since(self, earlier: Counts) -> Counts:
        """Return the work since an earlier count, and the watches of this one."""
        return Counts(self.watches, self.requests - earlier.requests, self.transactions - earlier.transactions)


def counts(started: Started) -> Counts:
    """`mntr` counts watches on data and those on children, `wchs` only the former. Each transaction has a zxid of its
    own, and every server has the same: the lower half counts them since the leader of the ensemble was elected."""
    asked = [_ask(server.address) for server in started.cluster.layout.zookeepers]
    return Counts(
        sum(_number(r"^zk_watch_count\s+(\d+)", said) for said, _ in asked),
        sum(_number(r"^zk_packets_received\s+(\d+)", said) for said, _ in asked),
        max(_number(r"^Zxid: 0x([0-9a-f]+)", said, 16) & 0xFFFFFFFF for _, said in asked),
    )


@contextmanager
def counted(started: Started) -> Iterator[list[Counts]]:
    """The list gets what the body has cost, when it has ended."""
    cost: list[Counts] = []
    before = counts(started)
    yield cost
    cost.append(counts(started).since(before))


def _ask(address: str) -> tuple[str, str]:
    return _say(address, b"mntr"), _say(address, b"srvr")


def _say(address: str, word: bytes) -> str:
    with socket.create_connection((address, ZOOKEEPER_PORT), 10) as connection:
        connection.sendall(word)
        return b"".join(iter(lambda: connection.recv(4096), b"")).decode()


def _number(pattern: str, said: str, base: int = 10) -> int:
    found = re.search(pattern, said, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"a ZooKeeper server does not say {pattern!r}: {said!r}")
    return int(found.group(1), base)
