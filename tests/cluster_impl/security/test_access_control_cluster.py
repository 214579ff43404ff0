"""Access control entries on six real processes: an administrator, and a user with what entries allow."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its stubs do not export them
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from fencepost.cluster_impl.wire import messages as m
from tests.cluster_impl.processes import LIMIT, ProcessCluster, address
from tests.cluster_impl.security.sasl_nodes import ALICE, ask, module
from tests.waiting import eventually

pytestmark = pytest.mark.integration

ADMIN = type(ALICE)("admin", "all of it")
REFUSED = {KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    """Clients log in; nodes, which share a listener without logins, are super users as `admin` is."""
    cluster = ProcessCluster(tmp_path_factory.mktemp("acls"))
    everywhere = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:admin;User:ANONYMOUS",
    }
    on_brokers = {
        "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT",
        "listener.name.client.plain.sasl.jaas.config": module(ALICE, ADMIN),
    }
    for node in cluster.nodes.values():
        added = {**everywhere, **(on_brokers if node in cluster.brokers.values() else {})}
        with node.file.open("a") as file:
            file.writelines(f"{key}={value}\n" for key, value in added.items())
    try:
        cluster.start()
        yield cluster
    finally:
        for node in cluster.nodes.values():
            node.end()


def settings(cluster: ProcessCluster, user: Any) -> dict[str, Any]:
    return {
        "bootstrap.servers": cluster.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user.username,
        "sasl.password": user.password,
    }


def entry(
    kind: ResourceType,
    name: str,
    operation: AclOperation,
    permission: AclPermissionType = AclPermissionType.ALLOW,
    pattern: ResourcePatternType = ResourcePatternType.LITERAL,
) -> AclBinding:
    return AclBinding(kind, name, pattern, "User:alice", "*", operation, permission)


def create(admin: AdminClient, *entries: AclBinding) -> None:
    for future in admin.create_acls(list(entries), request_timeout=LIMIT).values():
        future.result(LIMIT)


def error_of_producing(cluster: ProcessCluster, topic: str) -> int:
    """The error of one record of alice, 0 if it was acknowledged."""
    errors: list[int] = []
    producer = Producer({**settings(cluster, ALICE), "message.timeout.ms": int(LIMIT * 1000)})
    try:
        producer.produce(topic, b"x", on_delivery=lambda error, _: errors.append(error.code() if error else 0))
        assert producer.flush(LIMIT) == 0
    finally:
        producer.purge()
    return errors[0]


def may_delete(cluster: ProcessCluster, topic: str) -> bool:
    hers = AdminClient(settings(cluster, ALICE))
    deleting = hers.delete_topics([topic], request_timeout=LIMIT)[topic]
    try:
        deleting.result(LIMIT)
    except KafkaException as refused:
        assert refused.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
        return False
    return True


@pytest.mark.requirement("K631-66", "D631-43")
def test_a_user_may_do_what_entries_allow_and_nothing_else(cluster: ProcessCluster) -> None:
    admin = AdminClient(settings(cluster, ADMIN))
    for future in admin.create_topics(
        [NewTopic("team-a", 1, 3), NewTopic("team-secret", 1, 3)], request_timeout=LIMIT
    ).values():
        future.result(LIMIT)
    assert not may_delete(cluster, "team-a")
    assert error_of_producing(cluster, "team-a") == KafkaError.TOPIC_AUTHORIZATION_FAILED
    create(
        admin,
        entry(ResourceType.TOPIC, "team-", AclOperation.ALL, pattern=ResourcePatternType.PREFIXED),
        entry(ResourceType.TOPIC, "team-secret", AclOperation.WRITE, AclPermissionType.DENY),
        entry(ResourceType.GROUP, "readers", AclOperation.READ),
    )
    eventually(lambda: error_of_producing(cluster, "team-a") == 0, "alice may write to her topic", LIMIT)
    assert error_of_producing(cluster, "team-secret") == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert consumed(cluster, "team-a", "readers")
    with pytest.raises(KafkaException) as refused:
        consumed(cluster, "team-a", "others")
    assert refused.value.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED
    with pytest.raises(KafkaException) as refused:
        create(AdminClient(settings(cluster, ALICE)), entry(ResourceType.TOPIC, "x", AclOperation.ALL))
    assert refused.value.args[0].code() == KafkaError.CLUSTER_AUTHORIZATION_FAILED
    assert may_delete(cluster, "team-a")


def consumed(cluster: ProcessCluster, topic: str, group: str) -> bytes:
    """The first record, read by alice in a group. Raises KafkaException."""
    consumer = Consumer({**settings(cluster, ALICE), "group.id": group, "auto.offset.reset": "earliest"})
    found: list[bytes] = []

    def poll() -> bool:
        message = consumer.poll(0.5)
        if message is not None and (error := message.error()) is not None:
            if error.code() in REFUSED:
                raise KafkaException(error)
            return False
        if message is not None:
            found.append(message.value() or b"")
        return bool(found)

    try:
        consumer.subscribe([topic])
        eventually(poll, "a record is read", LIMIT)
    finally:
        consumer.close()
    return found[0]


@pytest.mark.requirement("K631-66")
def test_entries_outlive_the_active_controller_and_end_when_they_are_deleted(cluster: ProcessCluster) -> None:
    admin = AdminClient(settings(cluster, ADMIN))
    admin.create_topics([NewTopic("kept", 1, 3)], request_timeout=LIMIT)["kept"].result(LIMIT)
    create(admin, entry(ResourceType.TOPIC, "kept", AclOperation.WRITE))
    eventually(lambda: error_of_producing(cluster, "kept") == 0, "alice may write", LIMIT)
    dead = cluster.controllers[cluster.active_controller()]
    dead.signal(signal.SIGKILL)
    dead.exit_code()
    anyone: Any = None
    hers = AclBindingFilter(
        ResourceType.TOPIC, "kept", ResourcePatternType.ANY, anyone, anyone, AclOperation.ANY, AclPermissionType.ANY
    )
    found = admin.describe_acls(hers, request_timeout=LIMIT).result(LIMIT)
    assert [(each.principal, each.operation) for each in found] == [("User:alice", AclOperation.WRITE)]
    for future in admin.delete_acls([hers], request_timeout=LIMIT).values():
        assert len(future.result(LIMIT)) == 1
    eventually(
        lambda: error_of_producing(cluster, "kept") == KafkaError.TOPIC_AUTHORIZATION_FAILED, "the entry is gone", LIMIT
    )
    dead.start()


@pytest.mark.requirement("K631-29", "K631-21")
def test_a_broker_below_the_level_is_refused_and_both_listeners_show_the_level(cluster: ProcessCluster) -> None:
    older = m.BrokerHeartbeatRequest(broker_id=9, broker_epoch=-1, target_state=1)
    active = cluster.active_controller()
    assert ask(address(active), 9090, None, older, 0).error_code == 35
    eventually(lambda: cluster.controllers[active].says("broker 9 is refused: it supports metadata.format 1"), "a line")
    for node in (active, 4):
        versions = ask(
            address(node), 9090, None, m.ApiVersionsRequest(client_software_name="me", client_software_version="1"), 3
        )
        shown = [(each.name, each.max_version_level) for each in versions.finalized_features]
        assert shown == [("metadata.format", 2)]
