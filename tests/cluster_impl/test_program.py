"""`python -m fencepost.cluster_impl` as a program: what it refuses, how it says so, and how it ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cluster_impl.processes import ROOT, NodeProcess, ProcessCluster, address
from tests.waiting import eventually

pytestmark = pytest.mark.integration


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fencepost.cluster_impl", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)


def controller(folder: Path, name: str = "controller", **changes: str) -> NodeProcess:
    properties = {
        "process.roles": "controller",
        "controller.id": "1",
        "cluster.id": "a-test-cluster",
        "controller.connect": f"1@{address(1)}:9090",
        "controller.listeners": "CONTROLLER",
        "listeners": f"CONTROLLER://{address(1)}:9090",
        "log.dirs": str(folder / "data"),
    }
    return NodeProcess(folder, name, properties | {key.replace("_", "."): value for key, value in changes.items()})


def refusal(node: NodeProcess) -> str:
    """Return the message of a node that cannot start: one line, exit code 2."""
    finished = run(str(node.file))
    assert finished.returncode == 2
    lines = [line for line in finished.stderr.splitlines() if " INFO [" not in line]
    assert len(lines) == 1, finished.stderr
    return lines[0]


def test_help_lists_the_keys() -> None:
    finished = run("--help")
    assert finished.returncode == 0
    assert "registration.lease.timeout.ms (milliseconds, default 20000)" in finished.stdout


def test_a_wrong_key_is_one_message_and_exit_code_2(tmp_path: Path) -> None:
    assert "unknown key proces.roles: did you mean process.roles?" in refusal(
        NodeProcess(tmp_path, "node", {"proces.roles": "broker"})
    )


def test_a_port_in_use_is_one_message_and_exit_code_2(tmp_path: Path) -> None:
    with socket.create_server((address(1), 9090)):
        assert f"{address(1)}:9090 is in use by another process" in refusal(controller(tmp_path))


def test_a_directory_of_a_running_node_is_one_message_and_exit_code_2(tmp_path: Path) -> None:
    running = controller(tmp_path)
    running.start()
    try:
        eventually(lambda: running.says("the node has started"), "the first node has started")
        second = controller(tmp_path, "second", listeners=f"CONTROLLER://{address(1)}:9091")
        assert f"{tmp_path / 'data'} is in use by another process" in refusal(second)
    finally:
        running.end()


def test_a_directory_of_another_cluster_is_one_message_and_exit_code_2(tmp_path: Path) -> None:
    first = controller(tmp_path)
    first.start()
    eventually(lambda: first.says("the node has started"), "the first node has started")
    first.signal(signal.SIGTERM)
    assert first.exit_code() == 0
    assert "belongs to cluster.id a-test-cluster" in refusal(controller(tmp_path, "other", cluster_id="another"))


def test_a_broker_that_was_never_granted_an_epoch_stops_at_once(tmp_path: Path) -> None:
    broker = ProcessCluster(tmp_path).brokers[4]
    broker.start()
    try:
        eventually(lambda: broker.says("the node has started"), "the broker has started")
        broker.signal(signal.SIGINT)
        assert broker.exit_code() == 0
    finally:
        broker.end()


def test_a_broker_whose_last_directory_is_taken_away_says_so_and_exits_with_1(tmp_path: Path) -> None:
    settings = {"replica.high.watermark.checkpoint.interval.ms": "200"}
    broker = ProcessCluster(tmp_path, **settings).brokers[4]
    broker.start()
    try:
        eventually(lambda: broker.says("the node has started"), "the broker has started")
        (tmp_path / "data-4").rename(tmp_path / "data-4.away")
        assert broker.exit_code() == 1
        assert broker.log().splitlines()[-1].startswith("all log dirs have failed")
    finally:
        broker.end()


@pytest.mark.requirement("K631-69", "K631-70")
def test_controller_and_broker_serve_their_metrics(tmp_path: Path) -> None:
    at = {node: f"{address(node)}:9404" for node in (1, 4)}
    active = controller(tmp_path, metrics_listener=at[1])
    broker = NodeProcess(
        tmp_path,
        "broker",
        {
            "process.roles": "broker",
            "broker.id": "4",
            "cluster.id": "a-test-cluster",
            "controller.connect": f"1@{address(1)}:9090",
            "listeners": f"INTERNAL://{address(4)}:9090",
            "log.dirs": str(tmp_path / "broker-data"),
            "metrics.listener": at[4],
        },
    )
    try:
        active.start()
        broker.start()
        eventually(lambda: metrics(at[4]).get("kafka_server_BrokerServer_Serving") == 1, "the broker serves")
        of_broker, of_controller = metrics(at[4]), metrics(at[1])
    finally:
        broker.end()
        active.end()
    name = "kafka_controller_KafkaController_"
    assert of_broker["kafka_controller_KafkaServer_MetadataLag"] == 0
    assert of_controller[name + "MetadataLag"] == 0
    assert of_controller[name + "MetadataCommitLatencyMs_count"] >= 1
    assert of_controller[name + "MetadataCommitRate"] > 0
    assert of_controller[name + "MetadataSnapshotLag"] >= 1
    assert of_controller[name + "ControllerRequestsRate"] > 0


def metrics(at: str) -> dict[str, float]:
    """Return the samples without labels that a node serves; none before it listens."""
    try:
        with urllib.request.urlopen(f"http://{at}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
    except OSError:
        return {}
    pairs = [line.split() for line in lines if not line.startswith("#") and "{" not in line]
    return {name: float(value) for name, value in pairs}
