"""Six real processes of the `quorum` design that all require logins, and the clients that people use."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiokafka
import kafka
import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # re-exported

from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.processes import LIMIT, ProcessCluster, address
from tests.cluster_impl.security.sasl_nodes import ALICE, BROKER, ask, module

pytestmark = pytest.mark.integration

VALUES = [f"value {number}".encode() for number in range(100)]
USERS = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": ALICE.username,
    "sasl.password": ALICE.password,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    """Users may log in everywhere; only nodes may do what nodes do."""
    folder: Path = tmp_path_factory.mktemp("secure")
    acls = folder / "acls"
    acls.write_text("User:broker Cluster ClusterAction Allow\n")
    cluster = ProcessCluster(folder)
    everywhere = {
        "authorizer.acls": str(acls),
        "controller.listeners": "CONTROLLER",
        "listener.name.controller.plain.sasl.jaas.config": module(ALICE, BROKER, login=BROKER),
    }
    on_brokers = {
        "listener.security.protocol.map": ("CLIENT:SASL_PLAINTEXT,INTERNAL:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT"),
        "listener.name.client.plain.sasl.jaas.config": module(ALICE),
        "listener.name.internal.plain.sasl.jaas.config": module(ALICE, BROKER, login=BROKER),
    }
    for node in cluster.nodes.values():
        on_node = (
            on_brokers
            if node in cluster.brokers.values()
            else {"listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT"}
        )
        with node.file.open("a") as file:
            file.writelines(f"{key}={value}\n" for key, value in {**everywhere, **on_node}.items())
    try:
        cluster.start()
        yield cluster
    finally:
        for node in cluster.nodes.values():
            node.end()


@pytest.fixture
def topic(cluster: ProcessCluster, request: pytest.FixtureRequest) -> str:
    name = str(request.node.name).replace("[", "-").replace("]", "")
    admin = AdminClient({**USERS, "bootstrap.servers": cluster.bootstrap})
    wanted = NewTopic(name, 1, 3, config={"min.insync.replicas": "3"})
    admin.create_topics([wanted], request_timeout=LIMIT)[name].result(LIMIT)
    return name


def test_confluent_kafka_produces_to_all_replicas_and_consumes_in_a_group(cluster: ProcessCluster, topic: str) -> None:
    settings = {**USERS, "bootstrap.servers": cluster.bootstrap}
    producer = Producer({**settings, "acks": "all", "enable.idempotence": True})
    failed: list[object] = []
    for value in VALUES:
        producer.produce(topic, value, on_delivery=lambda error, _: failed.append(error) if error else None)
    assert producer.flush(LIMIT) == 0
    assert failed == []
    consumer = Consumer({**settings, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    found: list[bytes] = []
    deadline = time.monotonic() + LIMIT
    while len(found) < len(VALUES) and time.monotonic() < deadline:
        found += [message.value() or b"" for message in consumer.consume(len(VALUES), 0.5)]
    consumer.close()
    assert found == VALUES


async def test_kafka_python_and_aiokafka_log_in_as_well(cluster: ProcessCluster, topic: str) -> None:
    settings: dict[str, Any] = {
        "bootstrap_servers": cluster.bootstrap,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": ALICE.username,
        "sasl_plain_password": ALICE.password,
    }
    producer = kafka.KafkaProducer(**settings, acks="all")
    assert producer.send(topic, b"1").get(timeout=LIMIT).offset == 0
    producer.close()

    async def produce() -> int:
        other = aiokafka.AIOKafkaProducer(**settings, acks="all")
        await other.start()
        try:
            return int((await other.send_and_wait(topic, b"2")).offset)
        finally:
            await other.stop()

    assert await produce() == 1


def test_a_wrong_password_is_an_error_that_the_client_names(cluster: ProcessCluster) -> None:
    errors: list[int] = []
    producer = Producer(
        {
            **USERS,
            "bootstrap.servers": cluster.bootstrap,
            "sasl.password": "wrong",
            "error_cb": lambda error: errors.append(error.code()),
        }
    )
    deadline = time.monotonic() + LIMIT
    while KafkaError._AUTHENTICATION not in errors and time.monotonic() < deadline:
        producer.poll(0.1)
    assert KafkaError._AUTHENTICATION in errors


@pytest.mark.requirement("K631-10", "RSE-10", "DRSE-05")
def test_what_nodes_ask_of_one_another_is_refused_to_others(cluster: ProcessCluster, topic: str) -> None:
    for node in cluster.controllers:
        heartbeat = m.BrokerHeartbeatRequest(broker_id=9, broker_epoch=-1, target_state=1)
        assert ask(address(node), 9090, ALICE, heartbeat, 0).error_code == 31
        assert ask(address(node), 9090, ALICE, m.AlterIsrRequest(broker_id=4), 0).error_code == 31
        assert ask(address(node), 9090, ALICE, m.DescribeQuorumRequest(), 1).error_code == 31
        request = m.CreateTopicsRequest(topics=[m.CreateTopicsRequest.CreatableTopic(name="hers", num_partitions=1)])
        assert [each.error_code for each in ask(address(node), 9090, ALICE, request, 7).topics] == [31]
        doomed = m.DeleteTopicsRequest(topics=[m.DeleteTopicsRequest.DeleteTopicState(name=topic)])
        assert [each.error_code for each in ask(address(node), 9090, ALICE, doomed, 6).responses] == [31]
        metadata = m.FetchRequest.FetchTopic(
            topic="__kafka_metadata", partitions=[m.FetchRequest.FetchPartition(partition=0)]
        )
        answer = ask(address(node), 9090, ALICE, m.FetchRequest(topics=[metadata]), 12)
        assert [each.error_code for each in answer.responses[0].partitions] == [29]
    fetch = m.FetchRequest(
        replica_id=5,
        topics=[m.FetchRequest.FetchTopic(topic=topic, partitions=[m.FetchRequest.FetchPartition(partition=0)])],
    )
    for port in (9090, 9092):
        answer = ask(address(4), port, ALICE, fetch, 12)
        assert [each.error_code for each in answer.responses[0].partitions] == [29]
    answer = ask(address(4), 9090, BROKER, fetch, 12)
    assert [each.error_code for each in answer.responses[0].partitions] != [29]
