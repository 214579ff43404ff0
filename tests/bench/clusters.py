"""The cluster that is measured: three brokers of a target with three controllers or one ZooKeeper server, and the links
and settings of the suite.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # its stubs do not export NewTopic

from fencepost.harness.backends import PROCESS
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.plan.model import NodeSpec, Plan, Timing, Topology
from fencepost.harness.targets.registry import load
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter

TOPIC = "bench"
TIMING = Timing()
CONTROLLER = "node-6"
"""The controller of a cluster with ZooKeeper until that broker dies."""
TOPIC_WITHIN = 60.0


@dataclass(frozen=True)
class Started:
    """A cluster that serves one topic; `seconds` from the first process until that topic was created."""

    cluster: Cluster
    bootstrap: str
    seconds: float

    @property
    def timing(self) -> Timing:
        return self.cluster.plan.timing


def plan(target: str, timing: Timing) -> Plan:
    """The nodes and nothing else: the measurements bring their own load."""
    brokers = [NodeSpec(name=f"node-{n}", id=n, index=n, roles=("broker",)) for n in (4, 5, 6)]
    dialect = load(target).file.dialect
    if dialect.uses_zookeeper:
        topology = Topology(
            nodes=(NodeSpec(name="zk-1", id=1, index=1, roles=("zookeeper",)), *brokers),
            controller=CONTROLLER if dialect.has_controllers else None,
        )
    else:
        controllers = [NodeSpec(name=f"node-{n}", id=n, index=n, roles=("controller",)) for n in (1, 2, 3)]
        topology = Topology(nodes=(*controllers, *brokers))
    return Plan(
        scenario="bench",
        title="A cluster to measure",
        document="none",
        seed=1,
        target=target,
        timing=timing,
        topology=topology,
    )


@contextmanager
def started(target: str, timing: Timing = TIMING, backend: str = PROCESS) -> Iterator[Started]:
    """A fresh cluster with one topic of three partitions and three replicas; broker 4 leads partition 0."""
    with TemporaryDirectory(prefix="fencepost-bench-") as scratch:
        what = plan(target, timing)
        folder = RunFolder.create_at(Path(scratch, "run"))
        with JournalWriter(folder.journal) as journal, Cluster(what, folder, journal, load(target), backend) as cluster:
            begun = time.monotonic()
            cluster.start([node.name for node in what.topology.nodes])
            bootstrap = cluster.bootstrap()
            create_topic(bootstrap)
            yield Started(cluster, bootstrap, time.monotonic() - begun)


def create_topic(bootstrap: str) -> None:
    """Creates the topic, asking again while the cluster has too few brokers; raises what the last attempt said."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topic = NewTopic(
        TOPIC, 3, replica_assignment=[[4, 5, 6], [5, 6, 4], [6, 4, 5]], config={"min.insync.replicas": "2"}
    )
    deadline = time.monotonic() + TOPIC_WITHIN
    while True:
        try:
            admin.create_topics([topic], request_timeout=10)[TOPIC].result()
            return
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
