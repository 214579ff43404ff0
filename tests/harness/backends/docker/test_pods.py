"""Clusters in containers, for real: served to clients of this machine, broken, proven broken, and gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from fencepost.faults.capabilities import Capability, ProbeResult, Running
from fencepost.faults.registry import build
from fencepost.harness.backends import DOCKER
from fencepost.harness.backends.docker.containers import NODE_LABEL
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.plan.model import NodeSpec, Plan, Timing, Topology
from fencepost.harness.processes.resources import RUN_LABEL, read_resources
from fencepost.harness.processes.waiting import within
from fencepost.harness.targets.registry import load, load_file
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("an_engine")]

BROKERS = ("node-4", "node-5")
RECORDS = 50
START_WITHIN = 120.0
PATIENT = Timing(lease_ms=6000, session_ms=6000, fence_ms=8000, election_ms=2000, request_ms=2000)
"""Nothing here is about protocol timeouts: a busy machine is not to get in the way."""


def _small(target: str) -> Plan:
    """One controller or ZooKeeper server, and two brokers."""
    uses_zookeeper = load_file(target.partition(":")[0]).dialect.uses_zookeeper
    head = NodeSpec(name="head", id=1, index=1, roles=("zookeeper" if uses_zookeeper else "controller",))
    brokers = [NodeSpec(name=name, id=int(name[-1]), index=int(name[-1]), roles=("broker",)) for name in BROKERS]
    if not unavailable_reason(DOCKER, Capability.DISKS) and not unavailable_reason(DOCKER, Capability.CLOCK):
        brokers[1] = brokers[1].model_copy(update={"disk": "breakable", "clock": "own"})
    topology = Topology(nodes=(head, *brokers))
    return Plan(scenario="s", title="s", document="d", seed=1, target=target, topology=topology, timing=PATIENT)


@contextmanager
def _up(target: str, folder: Path) -> Iterator[Cluster]:
    run, plan = RunFolder.create_at(folder), _small(target)
    with (
        closing(JournalWriter(run.journal)) as journal,
        Cluster(plan, run, journal, load(target), DOCKER) as cluster,
    ):
        cluster.start([node.name for node in plan.topology.nodes], START_WITHIN)
        yield cluster
    assert _left_of(run) == []


def _left_of(run: RunFolder) -> list[str]:
    """Return the resources of a run on the engine, and those in its records."""
    from fencepost.harness.backends.docker.engine import engine

    mine = {"label": f"{RUN_LABEL}={run.path.resolve()}"}
    containers = [each["Id"] for each in engine().api.containers(all=True, filters=mine)]
    networks = [each["Id"] for each in engine().api.networks(filters=mine)]
    return [*containers, *networks, *(each.id for each in read_resources(run.path))]


def _break(cluster: Cluster, name: str, params: Mapping[str, Any]) -> None:
    """There and back, both proven."""
    fault = build(name, cluster, params)
    fault.set_up()
    fault.inject()
    try:
        proof = fault.verify()
    finally:
        fault.recover()
    assert proof.proven, (name, proof)
    healed = fault.verify_healed()
    assert healed.proven, (name, healed)


def _carries_records(cluster: Cluster) -> bool:
    """Return whether a client of this machine gets all its records acknowledged, and reads them back."""
    at: dict[str, str | int | float | bool] = {"bootstrap.servers": cluster.bootstrap(), "log_level": 0}
    admin = AdminClient(at)
    (made,) = admin.create_topics([NewTopic("t", 1, 2)]).values()
    made.result(30)
    producer, errors = Producer({**at, "acks": "all"}), []
    for number in range(RECORDS):
        producer.produce("t", str(number), on_delivery=lambda error, record: errors.append(error))
    producer.flush(30)
    consumer = Consumer({**at, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition("t", 0, 0)])
    read = [(message.value() or b"").decode() for message in consumer.consume(RECORDS, 30)]
    consumer.close()
    return errors == [None] * RECORDS and read == [str(number) for number in range(RECORDS)]


def test_a_cluster_in_pods_is_like_one_of_processes_and_its_faults_are_proven(tmp_path: Path) -> None:
    with _up("quorum", tmp_path / "run") as cluster:
        assert _carries_records(cluster)
        assert within(30, lambda: "head" in cluster.processes.peers("node-4"))
        assert cluster.links.reach("node-4", "node-5", 5) is ProbeResult.ANSWERED
        link = {"from": ["node-4"], "to": ["head"]}
        one, small, little = {"nodes": ["node-5"]}, {"cpus": 0.1}, {"mb": 512}
        for name, params in (
            ("cut", link),
            ("stall", link),
            ("pause", one),
            ("disconnect", one),
            ("cpu", one | small),
            ("memory", one | little),
            ("kill", one),
            ("terminate", one),
        ):
            _break(cluster, name, params)
        if cluster.node("node-5").clock == "own":
            _break(cluster, "clock-jump", one | {"ms": -3_600_000})
            _break(cluster, "disk-error", {"node": "node-5", "operations": ["write"], "files": "t-*/*"})
        assert cluster.processes.status("node-5").running is Running.RUNNING
        assert cluster.problems() == []


def test_a_pod_that_ends_makes_the_run_worthless(tmp_path: Path) -> None:
    from fencepost.harness.backends.docker.engine import engine

    with _up("quorum", tmp_path / "run") as cluster:
        labels = [f"{RUN_LABEL}={cluster.folder.path.resolve()}", f"{NODE_LABEL}=node-4"]
        (pod,) = engine().api.containers(filters={"label": labels, "name": "-pod-"})
        engine().api.kill(pod["Id"], "SIGKILL")
        assert within(30, lambda: any("the pod of node-4 ended" in message for message in cluster.problems()))


def test_apache_kafka_and_its_zookeeper_run_in_images_of_their_own(tmp_path: Path) -> None:
    try:
        load("apache-kafka-zk").prepare()
    except InfrastructureError as error:
        pytest.skip(str(error))
    with _up("apache-kafka-zk", tmp_path / "run") as cluster:
        assert _carries_records(cluster)
        _break(cluster, "kill", {"nodes": ["node-5"]})
        assert cluster.problems() == []
