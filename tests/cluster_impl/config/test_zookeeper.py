"""The configuration of a node without process.roles, which runs with ZooKeeper, and the users of any node."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.cluster_impl.config.ibp import Ibp
from fencepost.cluster_impl.config.load import config_from
from fencepost.cluster_impl.config.nodes import ZkControllerNodeConfig
from fencepost.cluster_impl.config.table import ConfigError
from fencepost.cluster_impl.config.values import HostPort, SecurityProtocol
from tests.cluster_impl.configs import config_of

BROKER = {
    "broker.id": "4",
    "zookeeper.connect": "zk-1:2181,zk-2:2181",
    "listeners": "INTERNAL://127.0.0.4:9090,CLIENT://127.0.0.4:9092",
    "log.dirs": "/a,/b",
}
JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b";'


def refusal_of(properties: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        config_from(properties)
    return str(caught.value)


@pytest.mark.requirement("K631-46", "DRSE-06")
def test_a_node_without_process_roles_runs_with_zookeeper() -> None:
    config = config_of(ZkControllerNodeConfig, BROKER)
    assert (config.node_id, config.log_dirs) == (4, (Path("/a"), Path("/b")))
    assert config.zookeeper.connect == (HostPort("zk-1", 2181), HostPort("zk-2", 2181))
    assert config.controller.ibp is Ibp.REPLICA_EVENTS
    assert config.zookeeper.session_timeout == 18.0
    assert config.controller.unclean_leader_election is False


@pytest.mark.parametrize("key", sorted(BROKER))
def test_a_node_without_a_required_key_is_refused_by_the_keys_name(key: str) -> None:
    assert f"the key {key} is missing" in refusal_of({k: v for k, v in BROKER.items() if k != key})


@pytest.mark.requirement("D343-18", "K343-59")
@pytest.mark.parametrize(
    ("version", "level", "broker_info"),
    [("2.0", Ibp.BASE, 4), ("2.1", Ibp.HEARTBEATS, 5), ("2.6", Ibp.REPLICA_EVENTS, 5)],
)
def test_three_levels_of_the_inter_broker_protocol_are_known(version: str, level: Ibp, broker_info: int) -> None:
    ibp = config_of(ZkControllerNodeConfig, BROKER | {"inter.broker.protocol.version": version}).controller.ibp
    assert ibp is level
    assert ibp.broker_info_version == broker_info


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("cluster.id", "c", "the key cluster.id is one of nodes with process.roles, which this node is not."),
        ("controller.connect", "1@h:1", "the key controller.connect is one of nodes with process.roles"),
        ("zookeeper.connect", "zk-1", "is not host:port"),
        ("zookeeper.connect", ",", "must name at least one server"),
        ("inter.broker.protocol.version", "2.2", "must be one of 2.0, 2.1, 2.6"),
        ("log.dirs", "/a,/a", "names a directory twice"),
        ("zookeeper.sesion.timeout.ms", "1", "did you mean zookeeper.session.timeout.ms?"),
        ("super.users", "admin", "is not User:NAME"),
        ("sasl.enabled.mechanisms", "GSSAPI", "must be one of PLAIN, SCRAM-SHA-256"),
        ("listener.security.protocol.map", "INTERNAL:TLS", "it is PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
        ("listener.security.protocol.map", "INTERNAL:SASL_PLAINTEXT", "listener.name.internal.plain.sasl.jaas.config"),
        ("listener.name.other.plain.sasl.jaas.config", JAAS, "names no listener of this node"),
    ],
)
def test_a_value_that_no_node_can_run_with_is_refused_with_a_message(key: str, value: str, message: str) -> None:
    assert message in refusal_of(BROKER | {key: value})


@pytest.mark.requirement("D343-04", "K343-23", "K343-53", "K343-54")
@pytest.mark.requirement("K343-23", "D343-04")
@pytest.mark.parametrize("broker_timeout", ["2000", "1999"])
def test_a_broker_that_would_fence_itself_before_it_is_inactive_is_refused(broker_timeout: str) -> None:
    timeouts = {"controller.heartbeat.timeout.ms": "2000", "broker.heartbeat.timeout.ms": broker_timeout}
    paced = BROKER | {"broker.heartbeat.interval.ms": "300"}
    assert "broker.heartbeat.timeout.ms must be longer than controller.heartbeat" in refusal_of(paced | timeouts)
    assert config_from(paced | timeouts | {"broker.heartbeat.timeout.ms": "2001"}).node_id == 4


def test_a_broker_that_would_be_inactive_between_two_heartbeats_is_refused() -> None:
    assert "inactive between two heartbeats" in refusal_of(BROKER | {"broker.heartbeat.interval.ms": "18000"})


def test_keys_of_zookeeper_are_refused_where_process_roles_is_set() -> None:
    quorum = {"process.roles": "broker", "cluster.id": "c", "controller.connect": "1@h:1"} | BROKER
    assert "the key zookeeper.connect is one of nodes without process.roles" in refusal_of(quorum)


@pytest.mark.requirement("DRSE-05")
def test_each_listener_has_a_protocol_and_a_login_module_of_its_own() -> None:
    security = config_from(
        BROKER
        | {
            "listener.security.protocol.map": "INTERNAL:SASL_PLAINTEXT,CLIENT:PLAINTEXT",
            "listener.name.internal.plain.sasl.jaas.config": JAAS,
            "super.users": "User:a;User:b",
        }
    ).security
    assert security.protocol_of("INTERNAL") is SecurityProtocol.SASL_PLAINTEXT
    assert security.protocol_of("CLIENT") is SecurityProtocol.PLAINTEXT
    assert security.jaas_of("INTERNAL", "PLAIN") == JAAS
    assert security.super_users == {"User:a", "User:b"}
    assert security.acls_file is None
