"""A small real cluster on which every fault can be tried, and how each fault is aimed at it.

One controller and three brokers, of the reference cluster if nothing else is said; the nodes that need it have a wall
clock and disks of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from fencepost.faults.capabilities import Capability, CapabilityError, Running
from fencepost.faults.registry import FAULTS
from fencepost.harness.backends import PROCESS
from fencepost.harness.clients.workload import Workload
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.plan.model import NodeSettings, NodeSpec, Plan, ProducerSpec, TopicSpec, Topology, WorkloadSpec
from fencepost.harness.plan.security import SecurityName
from fencepost.harness.targets.registry import load
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter
from tests.faults.cases import BASE, BROKEN, CASES, CONTROLLER, DUPLICATE, ORIGINAL, OTHER

HERE_WITHIN = 60.0
RECORDS = 20
"""In the topic's partition before anything is broken: what there is to lose, to tear and to flip."""


def capability(name: str) -> Capability:
    return FAULTS[name].capability


def plan(
    *, breakable: bool = True, clock: bool = True, target: str = "quorum", security: SecurityName = "plaintext"
) -> Plan:
    """The cluster, with one partition on all brokers. Without what this machine cannot do, if that is said."""
    own: dict[str, Any] = {"disk": "breakable" if breakable else "plain", "clock": "own" if clock else "machine"}
    nodes = (
        NodeSpec(name=CONTROLLER, id=1, index=1, roles=("controller",)),
        NodeSpec(name=ORIGINAL, id=4, index=4, roles=("broker",)),
        NodeSpec(name=BROKEN, id=5, index=5, roles=("broker",), **own),
        NodeSpec(name=OTHER, id=6, index=6, roles=("broker",)),
        NodeSpec(name=DUPLICATE, id=4, index=14, roles=("broker",), start="later", duplicate_of=ORIGINAL),
    )
    return Plan(
        scenario="every-fault",
        title="Every fault, one after the other",
        document="none",
        seed=1,
        target=target,
        security=security,
        topology=Topology(nodes=nodes),
        topics=(TopicSpec(name="t", assignments=((4, 5, 6),)),),
        workload=WorkloadSpec(producers=(ProducerSpec(name="trickle", topic="t", acks=1, idempotent=False, rate=20),)),
    )


@contextmanager
def small_cluster(
    folder: Path,
    backend: str = PROCESS,
    target: str = "quorum",
    settings: NodeSettings | None = None,
    security: SecurityName = "plaintext",
) -> Iterator[Cluster]:
    """It serves, and its partition holds records."""
    described = plan(
        breakable=unavailable_reason(backend, Capability.DISKS) is None,
        clock=unavailable_reason(backend, Capability.CLOCK) is None,
        target=target,
        security=security,
    ).model_copy(update={"settings": settings})
    run = RunFolder.create_at(folder)
    with (
        JournalWriter(run.journal) as journal,
        Cluster(described, run, journal, load(described.target), backend) as cluster,
    ):
        cluster.start(BASE)
        workload = Workload(described, journal, cluster.client_settings)
        try:
            workload.create_topics(HERE_WITHIN)
            workload.burst("filling", "t", 0, RECORDS, "all", True, HERE_WITHIN)
            workload.start()  # some faults show only where something changes
            yield cluster
        finally:
            workload.stop()


def make_whole(cluster: Cluster) -> None:
    """Every node of the beginning runs, answers and is in sync, whatever the last fault has left of it.

    A replica that still truncates its log and fetches it again would take a fault on its files back at once.
    """
    for name in BASE:
        _let_run(cluster, name)
    deadline = time.monotonic() + HERE_WITHIN
    for name in BASE:
        while True:
            try:
                cluster.processes.await_ready(name, max(0.1, deadline - time.monotonic()))
                break
            except CapabilityError:
                if cluster.processes.status(name).running is not Running.EXITED or time.monotonic() > deadline:
                    raise
                _let_run(cluster, name)
    _await_in_sync(cluster, deadline)


def tidy(name: str, cluster: Cluster) -> None:
    """After a fault that was healed: a node that may still end of it is ended now, not in the midst of the next."""
    if CASES[name].ends and cluster.processes.status(BROKEN).running is Running.RUNNING:
        with suppress(CapabilityError):  # it was quicker
            cluster.processes.kill(BROKEN)


def _await_in_sync(cluster: Cluster, deadline: float) -> None:
    """Wait until all replicas of the partition are in its ISR. TimeoutError if they are not by `deadline`."""
    admin = AdminClient({**cluster.client_settings(), "log_level": 0})
    partition = None
    while time.monotonic() < deadline:
        with suppress(KafkaException):
            partition = admin.list_topics("t", timeout=1).topics["t"].partitions.get(0)
            if partition is not None and set(partition.isrs) == set(partition.replicas) == {4, 5, 6}:
                return
        time.sleep(0.05)
    isr = None if partition is None else partition.isrs
    raise TimeoutError(f"t-0 has the ISR {isr} after {HERE_WITHIN} s, and not all of its replicas")


def _let_run(cluster: Cluster, name: str) -> None:
    running = cluster.processes.status(name).running
    if running is Running.PAUSED:
        cluster.processes.resume(name)
    elif running is not Running.RUNNING:
        cluster.processes.start(name)
