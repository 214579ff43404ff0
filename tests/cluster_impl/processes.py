"""Nodes of the reference cluster as real processes, for tests: configured, started, waited for, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
LIMIT = 30.0
"""Seconds in which anything that a test waits for must happen."""

BROKERS = (4, 5, 6)
"""Settings of a cluster with ZooKeeper."""

SETTINGS = {
    "registration.heartbeat.interval.ms": "200",
    "registration.lease.timeout.ms": "4000",
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.request.timeout.ms": "500",
    "replica.lag.time.max.ms": "1500",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "2",
    "group.initial.rebalance.delay.ms": "0",
}


def address(node: int) -> str:
    """An address of this test process's own for each node id."""
    return f"127.251.{os.getpid() % 250}.{node}"


class NodeProcess:
    def __init__(self, folder: Path, name: str, properties: dict[str, str]) -> None:
        self.file = folder / f"{name}.properties"
        self.log_file = folder / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.configure(properties)

    def configure(self, properties: dict[str, str]) -> None:
        """Set the properties from the next start on."""
        self.file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))

    def start(self) -> None:
        with self.log_file.open("ab") as log:
            command = [sys.executable, "-m", "fencepost.cluster_impl", str(self.file)]
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def exit_code(self) -> int:
        """Wait for the end of the process."""
        assert self.process is not None
        return self.process.wait(LIMIT)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def says(self, text: str) -> bool:
        return text in self.log()

    def log(self) -> str:
        return self.log_file.read_text() if self.log_file.exists() else ""


class ProcessCluster:
    """Controllers 1 to 3 and brokers 4 to 6 on addresses of their own, without links between them."""

    def __init__(self, folder: Path, **settings: str) -> None:
        connect = ",".join(f"{node}@{address(node)}:9090" for node in (1, 2, 3))
        common = {"cluster.id": "a-test-cluster", "controller.connect": connect, **SETTINGS, **settings}
        self.controllers = {
            node: NodeProcess(
                folder,
                f"controller-{node}",
                {
                    "process.roles": "controller",
                    "controller.id": str(node),
                    "controller.listeners": "CONTROLLER",
                    "listeners": f"CONTROLLER://{address(node)}:9090",
                    "log.dirs": str(folder / f"data-{node}"),
                    **common,
                },
            )
            for node in (1, 2, 3)
        }
        self.brokers = {
            node: NodeProcess(
                folder,
                f"broker-{node}",
                {
                    "process.roles": "broker",
                    "broker.id": str(node),
                    "listeners": f"INTERNAL://{address(node)}:9090,CLIENT://{address(node)}:9092",
                    "log.dirs": str(folder / f"data-{node}"),
                    **common,
                },
            )
            for node in (4, 5, 6)
        }
        self.nodes = {**self.controllers, **self.brokers}
        self.bootstrap = ",".join(f"{address(node)}:9092" for node in self.brokers)

    def start(self) -> None:
        for process in self.nodes.values():
            process.start()
        self.await_active(1)

    def await_active(self, times: int) -> None:
        """Wait until each broker became active for the nth time."""
        eventually(
            lambda: all(broker.log().count("this broker is ACTIVE") >= times for broker in self.brokers.values()),
            "every broker is active",
        )

    def active_controller(self) -> int:
        """The controller that said last that it is active."""

        def last(node: NodeProcess) -> str:
            lines = [line for line in node.log().splitlines() if "this controller is active" in line]
            return lines[-1] if lines else ""

        alive = [
            node for node, process in self.controllers.items() if process.process and process.process.poll() is None
        ]
        return max(alive, key=lambda node: last(self.controllers[node]))


@contextmanager
def running(folder: Path, **settings: str) -> Iterator[ProcessCluster]:
    """A cluster of six processes; all are ended at the end."""
    cluster = ProcessCluster(folder, **settings)
    try:
        cluster.start()
        yield cluster
    finally:
        for node in cluster.nodes.values():
            node.end()
