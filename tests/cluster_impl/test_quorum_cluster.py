"""Six real processes of the `quorum` design and a real client."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # re-exported
    AdminClient,
    NewTopic,
    ResourceType,
)

from tests.cluster_impl.processes import LIMIT, ProcessCluster, address, running
from tests.cluster_impl.real_client import alter, consume, delete, described, refuses_a_record_of_300_bytes
from tests.waiting import eventually

pytestmark = pytest.mark.integration

UNHURRIED = {
    "registration.heartbeat.interval.ms": "2000",
    "registration.lease.timeout.ms": "20000",
    "controller.quorum.fetch.timeout.ms": "2000",
    "controller.quorum.request.timeout.ms": "2000",
}
"""The defaults."""

REST = 5.0
"""Seconds over which a node at rest is measured."""
WAKE_UPS = 200
"""A second: a few heartbeats and fetches. A process that spins, or polls every millisecond, has a thousand and more."""
ACTIVE = "this broker is ACTIVE"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ProcessCluster]:
    with running(tmp_path) as cluster:
        yield cluster


def create(bootstrap: str, name: str) -> None:
    topic = NewTopic(name, 1, 3, config={"min.insync.replicas": "2"})
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([topic], request_timeout=LIMIT)[name].result(LIMIT)


def produce(bootstrap: str, topic: str, values: list[str]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True, "log_level": 0})
    failed: list[object] = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: failed.append(error) if error else None)
    assert producer.flush(LIMIT) == 0
    assert failed == []


def leader(bootstrap: str, topic: str) -> int:
    metadata = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic, LIMIT)
    found: int = metadata.topics[topic].partitions[0].leader
    return found


def test_a_producer_and_a_consumer_group_work_through_every_broker(cluster: ProcessCluster) -> None:
    for node in cluster.brokers:
        bootstrap = f"{address(node)}:9092"
        create(bootstrap, f"t{node}")
        values = [f"{node}-{number}" for number in range(100)]
        produce(bootstrap, f"t{node}", values)
        assert consume(bootstrap, f"t{node}", 100) == values


def test_a_stopped_broker_hands_over_what_it_leads_and_exits_with_0(cluster: ProcessCluster) -> None:
    create(cluster.bootstrap, "t")
    produce(cluster.bootstrap, "t", ["before"])
    stopped = leader(cluster.bootstrap, "t")
    cluster.brokers[stopped].signal(signal.SIGTERM)
    assert cluster.brokers[stopped].exit_code() == 0
    assert cluster.brokers[stopped].says("this broker is SHUTDOWN")
    rest = ",".join(f"{address(node)}:9092" for node in cluster.brokers if node != stopped)
    assert leader(rest, "t") not in (stopped, -1)
    produce(rest, "t", ["after"])
    assert consume(rest, "t", 2) == ["before", "after"]


@pytest.mark.requirement("K631-64")
def test_settings_of_topics_and_brokers_change_at_run_time_and_outlast_the_processes(cluster: ProcessCluster) -> None:
    for name in ("own", "of-brokers"):
        create(cluster.bootstrap, name)
        assert not refuses_a_record_of_300_bytes(cluster.bootstrap, name)
    alter(cluster.bootstrap, ResourceType.TOPIC, "own", "max.message.bytes", "200")
    eventually(lambda: refuses_a_record_of_300_bytes(cluster.bootstrap, "own"), "the topic's limit is in effect")
    assert not refuses_a_record_of_300_bytes(cluster.bootstrap, "of-brokers")
    for broker in cluster.brokers:
        alter(f"{address(broker)}:9092", ResourceType.BROKER, str(broker), "message.max.bytes", "200")
    eventually(lambda: refuses_a_record_of_300_bytes(cluster.bootstrap, "of-brokers"), "the brokers' limit is, too")
    for node in cluster.nodes.values():
        node.end()
    for node in cluster.nodes.values():
        node.start()
    cluster.await_active(2)
    assert described(cluster.bootstrap, ResourceType.TOPIC, "own", "max.message.bytes") == ("200", 1)
    assert described(cluster.bootstrap, ResourceType.TOPIC, "of-brokers", "max.message.bytes") == ("200", 2)
    assert described(f"{address(4)}:9092", ResourceType.BROKER, "4", "message.max.bytes") == ("200", 2)


@pytest.mark.requirement("K631-68")
def test_a_killed_broker_reclaims_its_id_at_once_and_removes_what_was_deleted_meanwhile(
    cluster: ProcessCluster, tmp_path: Path
) -> None:
    for name in ("kept", "deleted"):
        create(cluster.bootstrap, name)
    folders = [tmp_path / "data-6" / f"{name}-0" for name in ("kept", "deleted")]
    eventually(lambda: all(folder.exists() for folder in folders), "both replicas are there")
    before = cluster.brokers[6].log().count(ACTIVE)
    cluster.brokers[6].end()
    delete("deleted", f"{address(5)}:9092")
    cluster.brokers[6].start()
    eventually(lambda: cluster.brokers[6].log().count(ACTIVE) > before, "the restarted broker is active")
    eventually(lambda: not folders[1].exists(), "the replica of the deleted topic is removed")
    assert folders[0].exists()


def test_the_cluster_goes_on_when_its_active_controller_is_killed(tmp_path: Path) -> None:
    with running(tmp_path, **UNHURRIED) as cluster:
        create(cluster.bootstrap, "before")
        cluster.controllers[cluster.active_controller()].end()
        for node in cluster.brokers:
            create(f"{address(node)}:9092", f"after-{node}")
        produce(cluster.bootstrap, "before", ["x"])
        assert not any(broker.says(": its lease ran out") for broker in cluster.brokers.values())


def test_all_processes_are_killed_and_started_again_and_nothing_is_lost(cluster: ProcessCluster) -> None:
    create(cluster.bootstrap, "t")
    produce(cluster.bootstrap, "t", [str(number) for number in range(100)])
    for node in cluster.nodes.values():
        node.end()
    for node in cluster.nodes.values():
        node.start()
    cluster.await_active(2)
    assert consume(cluster.bootstrap, "t", 100) == [str(number) for number in range(100)]


def test_a_node_at_rest_seldom_wakes_up(tmp_path: Path) -> None:
    """`make bench` measures the time and memory that this costs."""
    with running(tmp_path, **UNHURRIED) as cluster:
        processes = [psutil.Process(node.pid) for node in cluster.nodes.values()]
        before = [process.num_ctx_switches().voluntary for process in processes]
        time.sleep(REST)
        woken = [process.num_ctx_switches().voluntary - each for process, each in zip(processes, before, strict=True)]
        assert max(woken) < REST * WAKE_UPS
