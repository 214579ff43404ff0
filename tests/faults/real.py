"""A small real cluster on which every fault can be tried, and how each fault is aimed at it.

One controller and three brokers of the reference cluster; the nodes that need it have a wall clock and disks of their
own. `CASES` has an entry for each fault of the registry: what is missing here is tried nowhere.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.capabilities import Capability, CapabilityError, Running
from faults.registry import FAULTS
from harness.backends import DOCKER, PROCESS, lacking
from harness.clients.workload import Workload
from harness.cluster import Cluster
from harness.plan.model import NodeSpec, Plan, ProducerSpec, TopicSpec, Topology, WorkloadSpec
from harness.targets.target import load
from results.records.folder import RunFolder
from results.records.journal import JournalWriter

CONTROLLER, ELDER, BROKEN, OTHER = "node-1", "node-4", "node-5", "node-6"
DUPLICATE = "node-4b"
BASE = (CONTROLLER, ELDER, BROKEN, OTHER)
HERE_WITHIN = 60.0
RECORDS = 20
"""In the topic's partition before anything is broken: what there is to lose, to tear and to flip."""


@dataclass(frozen=True)
class Case:
    """`params` as a plan writes them. `idle`: those that shorten the wait for what will not happen.

    `ends`: the node may notice a moment later, and end by itself.
    """

    params: Mapping[str, Any]
    idle: Mapping[str, Any] = field(default_factory=dict)
    backends: tuple[str, ...] = (PROCESS, DOCKER)
    ends: bool = False

    @property
    def idly(self) -> Mapping[str, Any]:
        return {**self.params, **self.idle}


_PAIR = {"from": [BROKEN], "to": [OTHER]}

CASES: Mapping[str, Case] = {
    "cut": Case(_PAIR),
    "stall": Case(_PAIR),
    "blackhole": Case(_PAIR),
    "one-way": Case(_PAIR),
    "reset": Case(_PAIR),
    "slow": Case({**_PAIR, "latency_ms": 50}),
    "cut-after-bytes": Case({**_PAIR, "after_bytes": 1000}),
    "isolate": Case({"nodes": [BROKEN], "from": [OTHER]}),
    "bridge": Case({"nodes": [BROKEN, CONTROLLER], "from": [OTHER, CONTROLLER], "over": CONTROLLER}),
    "ring": Case({"nodes": list(BASE)}),
    "flapping": Case({"nodes": [BROKEN], "from": [OTHER], "on_ms": 500, "off_ms": 500, "count": 2}),
    "kill": Case({"nodes": [BROKEN]}),
    "pause": Case({"nodes": [BROKEN]}),
    "terminate": Case({"nodes": [BROKEN], "within_ms": 60_000}, idle={"within_ms": 200}),
    "late-bytes": Case({"node": BROKEN, "to": [CONTROLLER], "queued_ms": 1000}),
    "crash-loop": Case({"node": BROKEN, "lives_ms": [100, 100]}),
    "rolling-restart": Case({"nodes": [BROKEN]}),
    "emptied": Case({"nodes": [BROKEN]}),
    "restored": Case({"node": BROKEN, "age_ms": 1000}),
    "swapped": Case({"nodes": [BROKEN, OTHER]}),
    "foreign-cluster": Case({"node": BROKEN}),
    "changed-id": Case({"node": BROKEN}),
    "duplicate": Case({"node": DUPLICATE}),
    "log-dir": Case({"node": BROKEN, "dir": 0}, ends=True),
    "disk-error": Case({"node": BROKEN, "operations": ["fsync"], "files": "elsewhere/*"}),
    "disk-slow": Case({"node": BROKEN, "ms": 100, "files": "elsewhere/*"}),
    "disk-full": Case({"node": BROKEN, "files": "elsewhere/*"}),
    "disk-read-only": Case({"node": BROKEN}, ends=True),
    "torn-write": Case({"node": BROKEN, "bytes": 10, "files": "elsewhere/*"}),
    "bit-flip": Case({"node": BROKEN, "file": "t-0/*.log"}),
    "power-loss": Case({"nodes": [BROKEN]}),
    "clock-jump": Case({"nodes": [BROKEN], "ms": -3_600_000}),
    "clock-skew": Case({"nodes": [BROKEN], "ppm": 100_000}),
    "disconnect": Case({"nodes": [BROKEN]}, backends=(DOCKER,)),
    "memory": Case({"nodes": [BROKEN], "mb": 256}, backends=(DOCKER,)),
    "cpu": Case({"nodes": [BROKEN], "cpus": 0.05}, backends=(DOCKER,)),
}


def capability(name: str) -> Capability:
    return FAULTS[name].capability  # type: ignore[attr-defined, no-any-return]  # the registry holds classes


def plan(*, breakable: bool = True, clock: bool = True) -> Plan:
    """The cluster, with one partition on all brokers. Without what this machine cannot do, if that is said."""
    own: dict[str, Any] = {"disk": "breakable" if breakable else "plain", "clock": "own" if clock else "machine"}
    nodes = (
        NodeSpec(name=CONTROLLER, id=1, index=1, roles=("controller",)),
        NodeSpec(name=ELDER, id=4, index=4, roles=("broker",)),
        NodeSpec(name=BROKEN, id=5, index=5, roles=("broker",), **own),
        NodeSpec(name=OTHER, id=6, index=6, roles=("broker",)),
        NodeSpec(name=DUPLICATE, id=4, index=14, roles=("broker",), start="later", duplicate_of=ELDER),
    )
    return Plan(
        story="every-fault",
        title="Every fault, one after the other",
        document="none",
        seed=1,
        target="quorum",
        topology=Topology(nodes=nodes),
        topics=(TopicSpec(name="t", assignments=((4, 5, 6),)),),
        workload=WorkloadSpec(producers=(ProducerSpec(name="trickle", topic="t", acks=1, idempotent=False, rate=20),)),
    )


@contextmanager
def small_cluster(folder: Path, backend: str = PROCESS) -> Iterator[Cluster]:
    """It serves, and its partition holds records."""
    described = plan(
        breakable=lacking(backend, Capability.DISKS) is None, clock=lacking(backend, Capability.CLOCK) is None
    )
    run = RunFolder.create_at(folder)
    with (
        JournalWriter(run.journal) as journal,
        Cluster(described, run, journal, load(described.target), backend) as cluster,
    ):
        cluster.start(BASE)
        workload = Workload(described, journal, cluster.bootstrap)
        try:
            workload.create_topics(HERE_WITHIN)
            workload.burst("filling", "t", 0, RECORDS, "all", True, HERE_WITHIN)
            workload.start()  # some faults show only where something changes
            yield cluster
        finally:
            workload.stop()


def make_whole(cluster: Cluster) -> None:
    """Every node of the beginning runs and answers, whatever the last fault has left of it."""
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


def tidy(name: str, cluster: Cluster) -> None:
    """After a fault that was healed: a node that may still end of it is ended now, not in the midst of the next."""
    if CASES[name].ends and cluster.processes.status(BROKEN).running is Running.RUNNING:
        with suppress(CapabilityError):  # it was quicker
            cluster.processes.kill(BROKEN)


def _let_run(cluster: Cluster, name: str) -> None:
    running = cluster.processes.status(name).running
    if running is Running.PAUSED:
        cluster.processes.resume(name)
    elif running is not Running.RUNNING:
        cluster.processes.start(name)
