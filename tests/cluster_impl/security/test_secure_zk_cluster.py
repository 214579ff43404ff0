"""Three real nodes around a real ZooKeeper that log in to one another: they work, and others may not act as nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # re-exported

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import LoginRefused
from fencepost.cluster_impl.wire.codec import Message, RequestMessage
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.login import PlainLogin
from fencepost.cluster_impl.wire.registry import ZK_BROKER
from tests.cluster_impl.processes import LIMIT, address
from tests.cluster_impl.security.sasl_nodes import ALICE, BROKER, ask, between_nodes
from tests.cluster_impl.zk_processes import ZkCluster, running

pytestmark = pytest.mark.integration

BETWEEN_NODES = sorted({4, 5, 6, 7, 1343, 1344, 1589})


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZkCluster]:
    """`alice` may log in, and nothing is allowed to her; clients need no login."""
    folder: Path = tmp_path_factory.mktemp("secure-zk")
    with running(folder, "2.6", **between_nodes(folder)) as cluster:
        yield cluster


def error_of(response: Message) -> int:
    """The error of the whole."""
    name = "top_level_error_code" if isinstance(response, m.IsrChangeResponse) else "error_code"
    code: int = getattr(response, name)
    return code


def test_nodes_that_log_in_to_one_another_replicate(cluster: ZkCluster) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    topic = NewTopic("t", 3, 3, config={"min.insync.replicas": "3"})
    admin.create_topics([topic], request_timeout=LIMIT)["t"].result(LIMIT)
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "acks": "all", "enable.idempotence": True, "log_level": 0}
    )
    failed: list[object] = []
    for number in range(100):
        producer.produce("t", str(number), on_delivery=lambda error, _: failed.append(error) if error else None)
    assert producer.flush(LIMIT) == 0
    assert failed == []


@pytest.mark.parametrize("key", BETWEEN_NODES)
@pytest.mark.requirement("RSE-10", "RSE-13", "DRSE-04", "DRSE-05")
def test_a_sender_without_the_permission_is_refused_by_every_broker_before_anything_else(
    cluster: ZkCluster, key: int
) -> None:
    api = ZK_BROKER[key]
    request: RequestMessage[Message] = cast("type[RequestMessage[Message]]", api.request)()
    for node in cluster.nodes:
        answer = ask(address(node), 9090, ALICE, request, api.max_version)
        assert error_of(answer) == Error.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.requirement("RSE-14", "RSE-15")
def test_a_sender_with_the_permission_is_refused_for_other_reasons(cluster: ZkCluster) -> None:
    event = m.ReplicaStateEventRequest(broker_id=4, broker_epoch=1, event_type=1)
    answers = {node: ask(address(node), 9090, BROKER, event, 0).error_code for node in cluster.nodes}
    expected = dict.fromkeys(cluster.nodes, Error.NOT_CONTROLLER)
    expected[cluster.controller()] = Error.STALE_BROKER_EPOCH
    assert answers == expected


def test_a_wrong_password_reaches_no_broker(cluster: ZkCluster) -> None:
    for node in cluster.nodes:
        with pytest.raises(LoginRefused, match="refused the login of broker: Authentication failed"):
            ask(address(node), 9090, PlainLogin("broker", "guessed"), m.MetadataRequest(topics=None), 9)


@pytest.mark.requirement("D343-12", "DRSE-03")
def test_clients_are_not_offered_the_requests_between_nodes(cluster: ZkCluster) -> None:
    for node in cluster.nodes:
        offered = ask(address(node), 9092, None, m.ApiVersionsRequest(), 3)
        between = ask(address(node), 9090, ALICE, m.ApiVersionsRequest(), 3)
        assert not {api.api_key for api in offered.api_keys} & {*BETWEEN_NODES, 17, 36}
        assert {api.api_key for api in between.api_keys} >= {*BETWEEN_NODES, 17, 36}
