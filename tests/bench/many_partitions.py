"""A cluster with many partitions: the time to create them, to restart a broker, and to elect leaders when one dies."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Self

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # its stubs do not export NewTopic

from fencepost.harness.clients.asking import ask_metadata
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.views import PartitionView
from fencepost.harness.clients.zookeeper.connection import ZooKeeperConnection
from fencepost.harness.network.layout import PROBE_SITE, SITE_PREFIX
from fencepost.harness.plan.model import Timing
from tests.bench.clusters import Started
from tests.bench.zookeeper_counts import counted, counts

BROKERS = (4, 5, 6)
VICTIM, WITNESS, RESTARTED = 4, 5, 6
"""The broker that is killed, the one whose metadata is read (neither is the controller, if there is one), and the one
that is restarted. It leads nothing afterwards, so it is another one than the first."""
TIMING = Timing(session_ms=18_000, lease_ms=60_000, fence_ms=90_000, lag_ms=60_000)
LEASES = TIMING.model_copy(update={"lease_ms": 18_000})
"""Those of a cluster without ZooKeeper, whose controllers give a broker up after its lease."""
"""Timeouts as in production, since a machine that opens thousands of logs is busy. The session is the first to end, so
the cluster starts to act at its end.
"""
WITHIN = 600.0
TIMEOUT_S = 290.0
"""Seconds of one CreateTopics; the client allows no more than 300."""
AT_ONCE = 100
"""Partitions of one CreateTopics, unless a single topic has more."""
ASK_EVERY = 0.1
PAGE = 500
"""Partitions of one question of the witness, unless a single topic has more."""


@dataclass(frozen=True)
class Scale:
    """A number of topics, each with a number of partitions of a number of replicas."""

    topics: int
    partitions: int
    replicas: int

    def __str__(self) -> str:
        return f"{self.topics * self.partitions:,} partitions x {self.replicas} replicas"

    @classmethod
    def read(cls, text: str) -> Self:
        """`1000x3x3`. Raises ValueError."""
        topics, partitions, replicas = (int(part) for part in text.split("x"))
        if min(topics, partitions) < 1 or replicas not in (2, 3):
            raise ValueError("topics and partitions are at least 1, replicas are 2 or 3")
        return cls(topics, partitions, replicas)

    def assignments(self) -> Iterator[list[list[int]]]:
        """Yield the replicas of each topic's partitions, the preferred leader first: every order of brokers in turn."""
        orders = itertools.cycle(itertools.permutations(BROKERS, self.replicas))
        for _ in range(self.topics):
            yield [list(next(orders)) for _ in range(self.partitions)]


def measure(started: Started, scale: Scale) -> dict[str, float]:
    """Times in seconds of a cluster without ZooKeeper."""
    return {
        f"{scale}: created until all are in sync, s": create(started, scale),
        f"{scale}: a broker restarted until all are in sync, s": restart(started, scale),
        f"{scale}: end of one broker's lease to all led, s": give_up(started, scale),
    }


def measure_with_zookeeper(started: Started, scale: Scale) -> dict[str, float]:
    """Times in seconds; ZooKeeper's work is all that arrived at it, pings and the questions of this measurement too."""
    before = counts(started)
    with counted(started) as creation:
        created = create(started, scale)
    with counted(started) as failure:
        over = take_over(started, scale)
    return {
        f"{scale}: created until all are in sync, s": created,
        f"{scale}: ZooKeeper requests for that": creation[0].requests,
        f"{scale}: ZooKeeper transactions for that": creation[0].transactions,
        f"{scale}: ZooKeeper watches for that": creation[0].watches - before.watches,
        f"{scale}: end of one broker's session to all led, s": over,
        f"{scale}: ZooKeeper requests from the broker's death on": failure[0].requests,
        f"{scale}: ZooKeeper transactions from the broker's death on": failure[0].transactions,
    }


def create(started: Started, scale: Scale) -> float:
    """Seconds until every partition has a leader and all of its replicas, in the metadata of one broker."""
    admin = AdminClient({"bootstrap.servers": started.bootstrap, "socket.timeout.ms": 300_000, "log_level": 0})
    topics = [
        NewTopic(f"many-{n}", scale.partitions, replica_assignment=assignment)
        for n, assignment in enumerate(scale.assignments())
    ]
    at_once = max(AT_ONCE // scale.partitions, 1)
    begun = time.monotonic()
    for first in range(0, scale.topics, at_once):
        asked = admin.create_topics(
            topics[first : first + at_once], request_timeout=TIMEOUT_S, operation_timeout=TIMEOUT_S
        )
        for created in asked.values():
            created.result()
    _await(started, scale, lambda one: one.leader > 0 and len(one.isr) == scale.replicas, "all are led and in sync")
    return time.monotonic() - begun


def restart(started: Started, scale: Scale) -> float:
    """Seconds from SIGTERM of a broker until it runs again and is in sync everywhere."""
    name, nodes = f"node-{RESTARTED}", started.cluster.processes
    begun = time.monotonic()
    nodes.shut_down(name)
    if not nodes.await_end(name, WITHIN):
        raise TimeoutError(f"{name} did not end within {WITHIN:g} s of SIGTERM")
    nodes.start(name)
    nodes.await_ready(name, WITHIN)
    _await(started, scale, lambda one: one.leader > 0 and len(one.isr) == scale.replicas, "all are in sync again")
    return time.monotonic() - begun


def give_up(started: Started, scale: Scale) -> float:
    """Seconds from the end of a killed broker's lease, as it is configured, until others lead all partitions."""
    killed = time.monotonic()
    started.cluster.processes.kill(f"node-{VICTIM}")
    _await(started, scale, lambda one: one.leader > 0 and one.leader != VICTIM, "others lead all")
    return time.monotonic() - killed - started.timing.lease_ms / 1000


def take_over(started: Started, scale: Scale) -> float:
    """Seconds from the end of a killed broker's session until no partition is without a leader that lives."""
    [server] = started.cluster.layout.zookeepers
    zookeeper = ZooKeeperConnection(server.front, 30.0)
    started.cluster.processes.kill(f"node-{VICTIM}")
    deadline = time.monotonic() + WITHIN
    while zookeeper.get([f"/brokers/ids/{VICTIM}"]) != [None]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the session of broker {VICTIM} did not end within {WITHIN:g} s")
        time.sleep(0.02)
    over = time.monotonic()
    zookeeper.close()
    _await(started, scale, lambda one: one.leader > 0 and one.leader != VICTIM, "others lead all")
    return time.monotonic() - over


def _await(started: Started, scale: Scale, settled: Callable[[PartitionView], bool], what: str) -> None:
    """Wait until the witness reports every partition as settled: page after page of topics, then all at once.

    To ask for all partitions again and again would cost the nodes more than what is measured.
    """
    deadline = time.monotonic() + WITHIN
    address = started.cluster.layout.link(f"{SITE_PREFIX}{PROBE_SITE}", f"node-{WITNESS}").listen
    connection = RawConnection(*address, timeout=60.0)
    names = [f"many-{n}" for n in range(scale.topics)]
    at_once = max(PAGE // scale.partitions, 1)
    pages = [names[first : first + at_once] for first in range(0, scale.topics, at_once)]
    for page in [*pages, names]:
        while left := len(page) * scale.partitions - _settled(connection, page, settled):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {WITHIN:g} s: {what} ({left} partitions of {page[0]} and on are not)")
            time.sleep(ASK_EVERY)
    connection.close()


def _settled(connection: RawConnection, topics: Collection[str], settled: Callable[[PartitionView], bool]) -> int:
    return sum(settled(partition) for partition in ask_metadata(connection, topics).partitions.values())
