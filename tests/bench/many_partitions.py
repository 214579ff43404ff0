"""What a controller does when one broker of three dies with many partitions, and what ZooKeeper watches for it."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # its stubs do not export NewTopic

from harness.clients.asking import ask_metadata
from harness.clients.raw import RawConnection
from harness.clients.views import PartitionView
from harness.clients.zookeeper.connection import ZooKeeperConnection
from harness.network.addresses import ZOOKEEPER_PORT
from harness.network.layout import PROBE_SITE, SITE_PREFIX
from harness.plan.model import Timing
from tests.bench.clusters import TOPIC, Started

TOPICS, PARTITIONS = 100, 100
"""Partitions are those of each topic."""
PAIRS = ([4, 5], [5, 6], [6, 4], [5, 4], [6, 5], [4, 6])
"""The replicas, the preferred leader first; the partitions take them in turn."""
VICTIM, WITNESS = 4, 5
"""Who is killed, and whose word is taken for what there is; neither is the controller."""
TIMING = Timing(session_ms=18_000, lease_ms=60_000, fence_ms=90_000, lag_ms=60_000)
"""As in production: a machine that opens thousands of logs is busy. The session is what ends first, so that its end is
when the controller begins.
"""
WITHIN = 300.0
AT_ONCE = 10
"""Topics of one CreateTopics."""
ASK_EVERY = 0.25


def replication_factor() -> int:
    return len(PAIRS[0])


def watches(started: Started) -> float:
    """All that the ZooKeeper servers hold, for whomever: `mntr` counts those on data and those on children, `wchs` only
    the former."""
    total = 0.0
    for server in started.cluster.layout.zookeepers:
        with socket.create_connection((server.address, ZOOKEEPER_PORT), 10) as connection:
            connection.sendall(b"mntr")
            said = b"".join(iter(lambda c=connection: c.recv(4096), b"")).decode()  # type: ignore[misc]
        found = re.search(r"^zk_watch_count\s+(\d+)", said, re.MULTILINE)
        if found is None:
            raise RuntimeError(f"{server.name} does not say how many watches it holds: {said!r}")
        total += int(found.group(1))
    return total


def create(started: Started) -> float:
    """Seconds until every partition has a leader and all of its replicas, in the metadata of one broker."""
    admin = AdminClient({"bootstrap.servers": started.bootstrap, "socket.timeout.ms": 300_000, "log_level": 0})
    assignment = [PAIRS[n % len(PAIRS)] for n in range(PARTITIONS)]
    topics = [NewTopic(f"many-{n}", PARTITIONS, replica_assignment=assignment) for n in range(TOPICS)]
    begun = time.monotonic()
    for first in range(0, TOPICS, AT_ONCE):
        asked = admin.create_topics(topics[first : first + AT_ONCE], request_timeout=WITHIN, operation_timeout=WITHIN)
        for created in asked.values():
            created.result()
    _await(started, lambda one: one.leader > 0 and len(one.isr) == replication_factor(), "all are led and in sync")
    return time.monotonic() - begun


def take_over(started: Started) -> float:
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
    _await(started, lambda one: one.leader > 0 and one.leader != VICTIM, "others lead all")
    return time.monotonic() - over


def _await(started: Started, settled: Callable[[PartitionView], bool], what: str) -> None:
    """Until the witness, which is not the one that decides, says so of every partition."""
    deadline = time.monotonic() + WITHIN
    address = started.cluster.layout.link(f"{SITE_PREFIX}{PROBE_SITE}", f"node-{WITNESS}").listen
    connection = RawConnection(*address, timeout=60.0)
    while True:
        known = ask_metadata(connection, started.cluster.target.file.dialect).partitions.values()
        many = [partition for partition in known if partition.topic != TOPIC]
        left = sum(not settled(partition) for partition in many)
        if len(many) == TOPICS * PARTITIONS and not left:
            connection.close()
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {WITHIN:g} s: {what} ({len(many)} are known, {left} are not settled)")
        time.sleep(ASK_EVERY)
