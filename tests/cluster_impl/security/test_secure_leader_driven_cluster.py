"""Three real nodes of the `leader-driven` design that all require logins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # re-exported

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import LoginRefused
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.login import PlainLogin
from tests.cluster_impl.leader_driven_processes import LeaderDrivenCluster, running
from tests.cluster_impl.processes import BROKERS, LIMIT, address
from tests.cluster_impl.security.sasl_nodes import ALICE, BROKER, ask, between_nodes
from tests.waiting import eventually

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeaderDrivenCluster]:
    """`alice` may log in, and nothing is allowed to her; clients need no login."""
    folder: Path = tmp_path_factory.mktemp("secure-leader-driven")
    with running(folder, **between_nodes(folder)) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def topic(cluster: LeaderDrivenCluster) -> str:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    wanted = NewTopic("t", 1, 3, config={"min.insync.replicas": "2"})
    admin.create_topics([wanted], request_timeout=LIMIT)["t"].result(LIMIT)
    cluster.in_sync("t")
    return "t"


def _produce(cluster: LeaderDrivenCluster, topic: str) -> None:
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "acks": "all", "enable.idempotence": True, "log_level": 0}
    )
    failed: list[object] = []
    for number in range(100):
        producer.produce(topic, str(number), on_delivery=lambda error, _: failed.append(error) if error else None)
    assert producer.flush(LIMIT) == 0
    assert failed == []


@pytest.mark.requirement("DRSE-05")
def test_a_sender_without_the_permission_is_no_replica(cluster: LeaderDrivenCluster, topic: str) -> None:
    leader = cluster.leader(topic)
    follower = next(node for node in BROKERS if node != leader)
    fetch = m.FetchRequest(
        replica_id=follower,
        topics=[m.FetchRequest.FetchTopic(topic=topic, partitions=[m.FetchRequest.FetchPartition(partition=0)])],
    )
    for port, login in ((9090, ALICE), (9092, None)):
        answer = ask(address(leader), port, login, fetch, 12)
        assert [each.error_code for each in answer.responses[0].partitions] == [Error.TOPIC_AUTHORIZATION_FAILED]
    answer = ask(address(leader), 9090, BROKER, fetch, 12)
    assert [each.error_code for each in answer.responses[0].partitions] != [Error.TOPIC_AUTHORIZATION_FAILED]


def test_a_wrong_password_reaches_no_broker(cluster: LeaderDrivenCluster) -> None:
    for node in BROKERS:
        with pytest.raises(LoginRefused, match="refused the login of broker: Authentication failed"):
            ask(address(node), 9090, PlainLogin("broker", "guessed"), m.MetadataRequest(topics=None), 9)


def test_nodes_that_log_in_to_one_another_replicate_and_take_over(cluster: LeaderDrivenCluster, topic: str) -> None:
    _produce(cluster, topic)
    victim = cluster.leader(topic)
    cluster.nodes[victim].end()
    eventually(lambda: cluster.leader(topic) not in (victim, -1), f"another broker leads than {victim}")
    _produce(cluster, topic)
    cluster.nodes[victim].start()
    cluster.in_sync(topic)
