"""From keys in a property file to users, logins and permissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.cluster_impl.config.load import config_from
from fencepost.cluster_impl.config.security import SecurityConfig
from fencepost.cluster_impl.config.table import ConfigError
from fencepost.cluster_impl.security.acl import NoAuthorizer, Operation, Resource
from fencepost.cluster_impl.security.configured import authorizer_of, login_of, users_of
from fencepost.cluster_impl.security.jaas import LOGIN_MODULE
from fencepost.cluster_impl.wire.sasl import PlainLogin

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


def test_each_listener_has_its_own_users_and_the_internal_one_a_login() -> None:
    config = security()
    clients, internal = users_of(config, "CLIENT"), users_of(config, "INTERNAL")
    assert clients
    assert clients.principal(b"\0alice\0hers") == "User:alice"
    assert internal
    assert internal.principal(b"\0broker\0secret") == "User:broker"
    assert login_of(config, "INTERNAL") == PlainLogin("broker", "secret")


def test_plaintext_listeners_require_no_login() -> None:
    config = config_from(NODE).security
    assert users_of(config, "INTERNAL") is None
    assert login_of(config, "INTERNAL") is None
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
