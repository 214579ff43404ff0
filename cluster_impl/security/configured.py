"""The users, logins and permissions of a node, from its configuration."""

from __future__ import annotations

from fencepost.cluster_impl.config.security import SecurityConfig, jaas_key
from fencepost.cluster_impl.config.table import ConfigError
from fencepost.cluster_impl.config.values import SecurityProtocol
from fencepost.cluster_impl.security.acl import AccessList, Authorizer, NoAuthorizer
from fencepost.cluster_impl.security.jaas import PlainModule
from fencepost.cluster_impl.wire.sasl import PlainLogin, PlainUsers


def users_of(config: SecurityConfig, listener: str) -> PlainUsers | None:
    """Return the users of a listener; None if it accepts clients without a login. Raises ConfigError."""
    module = _module(config, listener)
    return None if module is None else PlainUsers(module.passwords)


def login_of(config: SecurityConfig, listener: str) -> PlainLogin | None:
    """Return this node's login at listeners of this name on other nodes, or None. Raises ConfigError."""
    module = _module(config, listener)
    if module is not None and module.login is None:
        raise ConfigError(f"{jaas_key(listener)} must give username and password: nodes log in to one another there.")
    return None if module is None else module.login


def authorizer_of(config: SecurityConfig) -> Authorizer:
    """Return the authorizer of a node. Raises ConfigError for a file of permissions that cannot be read."""
    if config.acls_file is None:
        return NoAuthorizer()
    try:
        return AccessList.load(config.acls_file, config.super_users)
    except UnicodeDecodeError as error:
        raise ConfigError(f"authorizer.acls: {config.acls_file} is not UTF-8 text.") from error
    except OSError as error:
        raise ConfigError(f"authorizer.acls: {config.acls_file} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise ConfigError(f"authorizer.acls: {error}.") from error


def _module(config: SecurityConfig, listener: str) -> PlainModule | None:
    if config.protocol_of(listener) is not SecurityProtocol.SASL_PLAINTEXT:
        return None
    text = config.jaas_of(listener)
    if text is None:
        raise ConfigError(f"the listener {listener} is SASL_PLAINTEXT, so the key {jaas_key(listener)} is missing.")
    try:
        return PlainModule.parse(text)
    except ValueError as error:
        raise ConfigError(f"{jaas_key(listener)} {error}.") from error
