"""Real nodes of each design whose listeners all speak TLS, and confluent-kafka as their client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # re-exported

from fencepost.cluster_impl.security.jaas import SCRAM_MODULE
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.login import Access
from tests.cluster_impl import leader_driven_processes, zk_processes
from tests.cluster_impl.processes import BROKERS, LIMIT, ProcessCluster, address
from tests.cluster_impl.security.certificates import Certificate, certificate
from tests.cluster_impl.security.sasl_nodes import ALICE, BROKER, ask, module

pytestmark = pytest.mark.integration

AUTHENTICATION = KafkaError._AUTHENTICATION
VALUES = [f"value {number}".encode() for number in range(100)]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """One certificate for all nodes of a cluster, with their addresses."""
    return certificate(tmp_path_factory.mktemp("tls"), "/CN=nodes", *(address(node) for node in range(1, 7)))


def keys(nodes: Certificate, protocols: str) -> dict[str, str]:
    return {
        "listener.security.protocol.map": protocols,
        "ssl.keystore.location": str(nodes.keystore),
        "ssl.truststore.location": str(nodes.certificate),
    }


@contextmanager
def quorum(folder: Path, nodes: Certificate) -> Iterator[ProcessCluster]:
    """Controllers by SSL, brokers among themselves and clients by SASL_SSL, with SCRAM between brokers."""
    cluster = ProcessCluster(folder)
    on_brokers = {
        **keys(nodes, "CLIENT:SASL_SSL,INTERNAL:SASL_SSL,CONTROLLER:SSL"),
        "controller.listeners": "CONTROLLER",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
        "listener.name.client.plain.sasl.jaas.config": module(ALICE),
        "listener.name.client.scram-sha-256.sasl.jaas.config": module(ALICE, name=SCRAM_MODULE),
        "listener.name.client.scram-sha-512.sasl.jaas.config": module(ALICE, name=SCRAM_MODULE),
        "listener.name.internal.scram-sha-256.sasl.jaas.config": module(BROKER, login=BROKER, name=SCRAM_MODULE),
    }
    for node in cluster.nodes.values():
        added = on_brokers if node in cluster.brokers.values() else keys(nodes, "CONTROLLER:SSL")
        with node.file.open("a") as file:
            file.writelines(f"{key}={value}\n" for key, value in added.items())
    try:
        cluster.start()
        yield cluster
    finally:
        for node in cluster.nodes.values():
            node.end()


def client(bootstrap: str, nodes: Certificate) -> dict[str, Any]:
    return {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SSL",
        "ssl.ca.location": str(nodes.certificate),
    }


def produce_to_all_and_consume(settings: dict[str, Any]) -> None:
    admin = AdminClient(settings)
    wanted = NewTopic("t", 1, 3, config={"min.insync.replicas": "3"})
    admin.create_topics([wanted], request_timeout=LIMIT)["t"].result(LIMIT)
    producer = Producer({**settings, "acks": "all", "enable.idempotence": True})
    failed: list[object] = []
    for value in [*VALUES, b"x" * 200_000]:
        producer.produce("t", value, on_delivery=lambda error, _: failed.append(error) if error else None)
    assert producer.flush(LIMIT) == 0
    assert failed == []
    consumer = Consumer({**settings, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["t"])
    found: list[bytes] = []
    deadline = time.monotonic() + LIMIT
    while len(found) < len(VALUES) + 1 and time.monotonic() < deadline:
        found += [message.value() or b"" for message in consumer.consume(len(VALUES), 0.5)]
    consumer.close()
    assert found == [*VALUES, b"x" * 200_000]


@pytest.mark.requirement("D631-44")
def test_a_cluster_of_the_quorum_design_speaks_tls_everywhere(tmp_path: Path, nodes: Certificate) -> None:
    with quorum(tmp_path, nodes) as cluster:
        login = {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "PLAIN",
            "sasl.username": ALICE.username,
            "sasl.password": ALICE.password,
        }
        settings = {**client(cluster.bootstrap, nodes), **login}
        produce_to_all_and_consume(settings)
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            admin = AdminClient({**settings, "sasl.mechanism": mechanism})
            assert "t" in admin.list_topics(timeout=LIMIT).topics
        assert error_of({**settings, "sasl.mechanism": "SCRAM-SHA-512", "sasl.password": "wrong"}) == AUTHENTICATION
        assert ask(address(4), 9092, Access(ALICE, nodes.trusting()), m.MetadataRequest(topics=[]), 9).brokers
        with pytest.raises(ConnectionError):
            ask(address(4), 9092, ALICE, m.MetadataRequest(topics=[]), 9)
        other = certificate(tmp_path, "/CN=other", address(4))
        assert error_of({**settings, "ssl.ca.location": str(other.certificate)}) == KafkaError._SSL


def error_of(settings: dict[str, Any]) -> int:
    """The first error of a client that cannot connect."""
    errors: list[int] = []
    producer = Producer({**settings, "error_cb": lambda error: errors.append(error.code())})
    deadline = time.monotonic() + LIMIT
    while not {KafkaError._SSL, AUTHENTICATION} & {*errors} and time.monotonic() < deadline:
        producer.poll(0.1)
    return next(error for error in errors if error in (KafkaError._SSL, AUTHENTICATION))


DESIGNS: dict[str, Callable[..., AbstractContextManager[Any]]] = {
    "zk-controller": lambda folder, **settings: zk_processes.running(folder, "2.6", **settings),
    "leader-driven": leader_driven_processes.running,
}


@pytest.mark.requirement("D631-44")
@pytest.mark.parametrize("design", DESIGNS)
def test_a_cluster_with_zookeeper_speaks_tls_to_clients_and_among_brokers(
    design: str, tmp_path: Path, nodes: Certificate
) -> None:
    """The clients of the cluster's own start-up need a listener without TLS; these use the one of the brokers."""
    with DESIGNS[design](tmp_path, **keys(nodes, "CLIENT:PLAINTEXT,INTERNAL:SSL")):
        produce_to_all_and_consume(client(",".join(f"{address(node)}:9090" for node in BROKERS), nodes))
