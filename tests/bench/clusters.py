"""The cluster that is measured: three brokers of a target with three controllers or one ZooKeeper server, and the links
and settings of the suite.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # its stubs do not export NewTopic

from fencepost.harness.backends import PROCESS
from fencepost.harness.clients.asking import ask_quorum
from fencepost.harness.clients.raw import NoAnswer, RawConnection
from fencepost.harness.clients.views import Answer, ControllerView
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import NodeSettings, NodeSpec, Plan, Timing, Topology
from fencepost.harness.targets.registry import load
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter

TOPIC = "bench"
TIMING = Timing()
CONTROLLER = "node-6"
"""The controller of a cluster with ZooKeeper until that broker dies."""
TOPIC_WITHIN = 60.0
ACTIVE_WITHIN = 120.0
ASK_EVERY = 0.01
"""Seconds between two questions to controllers: a failover is measured by their answers."""


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


class Controllers:
    """Three controllers of the design quorum, without brokers."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.processes = cluster.processes
        self.names = [node.name for node in cluster.layout.nodes]

    def pid(self, name: str) -> int:
        pid = self.processes.status(name).pid
        assert pid is not None, f"{name} does not run"
        return pid

    def endpoint(self, name: str) -> Endpoint:
        return self._cluster.node(name).endpoint(Listener.CONTROLLER)

    def home(self, name: str) -> Path:
        return self._cluster.installation.home(self._cluster.node(name))

    def log(self, name: str) -> str:
        """Return what a controller logged so far."""
        return (self._cluster.folder.logs / f"{name}.log").read_text(errors="replace")

    def active(self, *, but: str = "") -> str:
        """Wait for an active controller, other than `but`, and return its name."""
        return self._await([name for name in self.names if name != but], lambda view: view.answer is Answer.SERVING)

    def await_described(self, name: str) -> None:
        """Wait until a controller describes the quorum, or names the one that does."""
        self._await([name], lambda view: view.answer in (Answer.SERVING, Answer.STANDBY))

    def _await(self, names: Sequence[str], wanted: Callable[[ControllerView], bool]) -> str:
        deadline = time.monotonic() + ACTIVE_WITHIN
        while time.monotonic() < deadline:
            for name in names:
                with suppress(NoAnswer), RawConnection(*self.endpoint(name), 1.0) as connection:
                    if wanted(ask_quorum(connection, Dialect.KIP_631)):
                        return name
            time.sleep(ASK_EVERY)
        raise TimeoutError(f"none of {', '.join(names)} within {ACTIVE_WITHIN:g} s")


@contextmanager
def started_controllers(timing: Timing, settings: NodeSettings | None = None) -> Iterator[Controllers]:
    """Three fresh controllers, one of them active."""
    nodes = tuple(NodeSpec(name=f"node-{n}", id=n, index=n, roles=("controller",)) for n in (1, 2, 3))
    what = plan("quorum", timing).model_copy(update={"topology": Topology(nodes=nodes), "settings": settings})
    with TemporaryDirectory(prefix="fencepost-bench-") as scratch:
        folder = RunFolder.create_at(Path(scratch, "run"))
        target = load("quorum")
        with JournalWriter(folder.journal) as journal, Cluster(what, folder, journal, target, PROCESS) as cluster:
            cluster.start([node.name for node in nodes])
            yield Controllers(cluster)


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
