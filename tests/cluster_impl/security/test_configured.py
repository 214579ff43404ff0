"""From keys in a property file to users, logins and permissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.cluster_impl.config.load import config_from
from fencepost.cluster_impl.config.security import SecurityConfig
from fencepost.cluster_impl.config.table import ConfigError
from fencepost.cluster_impl.security.acl import NoAuthorizer, Operation, Resource
from fencepost.cluster_impl.security.configured import access_control_of, authorizer_of, login_of, users_of
from fencepost.cluster_impl.security.jaas import LOGIN_MODULE
from fencepost.cluster_impl.security.tls import client_tls, server_tls
from fencepost.cluster_impl.wire.login import Access, PlainLogin
from fencepost.cluster_impl.wire.sasl import Users

NODE = {
    "broker.id": "4",
    "zookeeper.connect": "zk-1:2181",
    "listeners": "CLIENT://node-4:9092,INTERNAL://node-4:9093",
    "log.dirs": "/data",
}
SECURE = {
    "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,INTERNAL:SASL_PLAINTEXT",
    "listener.name.client.plain.sasl.jaas.config": f'{LOGIN_MODULE} required user_alice="hers";',
    "listener.name.internal.plain.sasl.jaas.config": (
        f'{LOGIN_MODULE} required username="broker" password="secret" user_broker="secret";'
    ),
}


def security(**more: str) -> SecurityConfig:
    return config_from({**NODE, **SECURE, **{key.replace("_", "."): value for key, value in more.items()}}).security


def principal(users: Users | None, token: bytes) -> str | None:
    assert users is not None
    login = users.mechanisms["PLAIN"]()
    login.step(token)
    return login.principal


def test_each_listener_has_its_own_users_and_the_internal_one_a_login() -> None:
    config = security()
    clients, internal = users_of(config, "CLIENT"), users_of(config, "INTERNAL")
    assert principal(clients, b"\0alice\0hers") == "User:alice"
    assert principal(internal, b"\0broker\0secret") == "User:broker"
    assert login_of(config, "INTERNAL") == Access(PlainLogin("broker", "secret"))


def test_plaintext_listeners_require_no_login() -> None:
    config = config_from(NODE).security
    assert users_of(config, "INTERNAL") is None
    assert login_of(config, "INTERNAL") == Access()
    assert isinstance(authorizer_of(config), NoAuthorizer)


def test_a_listener_between_nodes_needs_a_login() -> None:
    with pytest.raises(ConfigError, match=r"listener\.name\.client\..* must give username and password"):
        login_of(security(), "CLIENT")


def test_a_text_that_is_no_login_module_is_refused_with_its_key() -> None:
    texts = {**SECURE, "listener.name.client.plain.sasl.jaas.config": "Ldap required;"}
    config = config_from({**NODE, **texts}).security
    with pytest.raises(ConfigError, match=r"^listener\.name\.client\.plain\.sasl\.jaas\.config must begin with"):
        users_of(config, "CLIENT")


def test_permissions_come_from_a_file_beside_super_users(tmp_path: Path) -> None:
    path = tmp_path / "acls"
    path.write_text("User:broker Cluster ClusterAction Allow\n")
    authorizer = authorizer_of(security(authorizer_acls=str(path), super_users="User:admin;User:root"))
    may = [
        authorizer.authorize(f"User:{name}", Operation.CLUSTER_ACTION, Resource.CLUSTER)
        for name in ("broker", "admin", "root", "alice")
    ]
    assert may == [True, True, True, False]


def test_a_file_of_permissions_that_cannot_be_read_or_understood_is_refused(tmp_path: Path) -> None:
    absent, wrong, binary = tmp_path / "absent", tmp_path / "wrong", tmp_path / "binary"
    wrong.write_text("User:a may everything")
    binary.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"absent cannot be read: No such file"):
        authorizer_of(security(authorizer_acls=str(absent)))
    with pytest.raises(ConfigError, match=r"wrong, line 1: 'User:a may everything' is not"):
        authorizer_of(security(authorizer_acls=str(wrong)))
    with pytest.raises(ConfigError, match=r"binary is not UTF-8"):
        authorizer_of(security(authorizer_acls=str(binary)))


STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
QUORUM = {
    "process.roles": "broker",
    "broker.id": "4",
    "cluster.id": "c",
    "controller.connect": "1@node-1:9090",
    "listeners": "CLIENT://node-4:9092,INTERNAL://node-4:9093",
    "log.dirs": "/data",
}


@pytest.mark.requirement("D631-43")
def test_lines_of_a_file_count_as_entries_where_entries_are_enforced(tmp_path: Path) -> None:
    acls = tmp_path / "acls"
    acls.write_text("User:broker Cluster ClusterAction Allow\n")
    more = {"authorizer.class.name": STANDARD, "authorizer.acls": str(acls), "super.users": "User:admin"}
    access = access_control_of(config_from({**QUORUM, **more}).security, dict)
    assert access is not None
    asked = (Operation.CLUSTER_ACTION, Resource.CLUSTER)
    assert [access.authorize(f"User:{user}", *asked) for user in ("broker", "admin", "alice")] == [True, True, False]
    assert access_control_of(config_from(QUORUM).security, dict) is None


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({**NODE, "authorizer.class.name": STANDARD}, "keeps no access control entries"),
        ({**NODE, "authorizer.class.name": STANDARD, "replication.design": "leader-driven"}, "keeps no access control"),
        ({**QUORUM, "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"}, "must be org.apache"),
        ({**QUORUM, "allow.everyone.if.no.acl.found": "true"}, "no effect without authorizer.class.name"),
    ],
)
def test_keys_of_entries_without_an_effect_are_refused(properties: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        config_from(properties)


SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.mark.requirement("D631-44")
def test_a_listener_offers_the_mechanisms_that_have_users_and_nodes_log_in_by_the_one_between_them() -> None:
    more = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
        "listener.name.internal.scram-sha-256.sasl.jaas.config": (
            f'{SCRAM} required username="b" password="s" user_b="s";'
        ),
    }
    config = config_from({**NODE, **SECURE, **more}).security
    internal, clients = users_of(config, "INTERNAL"), users_of(config, "CLIENT")
    assert internal is not None
    assert clients is not None
    assert list(internal.mechanisms) == ["PLAIN", "SCRAM-SHA-256"]
    assert list(clients.mechanisms) == ["PLAIN"]
    assert login_of(config, "INTERNAL") == Access(PlainLogin("b", "s"), mechanism="SCRAM-SHA-256")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"listener.name.client.scram-sha-512.sasl.jaas.config": f"{SCRAM} required;"}, "does not name SCRAM-SHA-512"),
        ({"listener.security.protocol.map": "CLIENT:SSL"}, "names no listener|ssl.keystore.location is missing"),
    ],
)
def test_what_a_login_or_tls_lacks_is_named(more: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        server_tls(config_from({**NODE, **SECURE, **more}).security, "CLIENT")


def test_files_of_tls_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate")
    tls = {**NODE, "listener.security.protocol.map": "CLIENT:SSL"}
    for value, why in ((str(tmp_path / "absent"), "cannot be read: No such file"), (str(wrong), "is not a PEM file")):
        config = config_from({**tls, "ssl.keystore.location": value, "ssl.truststore.location": value}).security
        with pytest.raises(ConfigError, match=f"^ssl.keystore.location: .*{why}"):
            server_tls(config, "CLIENT")
        with pytest.raises(ConfigError, match=f"^ssl.truststore.location: .*{why}"):
            client_tls(config, "CLIENT")
    assert client_tls(config_from(NODE).security, "CLIENT") is None
