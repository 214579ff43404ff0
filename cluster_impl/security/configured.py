"""What a node's configuration says about security, as the things that listeners and connections take."""

from __future__ import annotations

from cluster_impl.config_keys import ConfigError
from cluster_impl.config_security import SecurityConfig
from cluster_impl.config_values import SecurityProtocol
from cluster_impl.security.acl import AccessList, Authorizer, NoAuthorizer
from cluster_impl.security.jaas import PlainLogin, PlainModule
from cluster_impl.security.sasl import PlainUsers


def users_of(config: SecurityConfig, listener: str) -> PlainUsers | None:
    """Whom a listener lets in; None if it lets everybody in. Raises ConfigError."""
    module = _module(config, listener)
    return None if module is None else PlainUsers(module.passwords)


def login_of(config: SecurityConfig, listener: str) -> PlainLogin | None:
    """What this node says who it is at other nodes' listeners of this name; None if it need not. Raises ConfigError."""
    module = _module(config, listener)
    if module is not None and module.login is None:
        raise ConfigError(f"{_key(listener)} must give username and password: nodes log in to one another there.")
    return None if module is None else module.login


def authorizer_of(config: SecurityConfig) -> Authorizer:
    """Raises ConfigError."""
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
        raise ConfigError(f"the listener {listener} is SASL_PLAINTEXT, so the key {_key(listener)} is missing.")
    try:
        return PlainModule.parse(text)
    except ValueError as error:
        raise ConfigError(f"{_key(listener)} {error}.") from error


def _key(listener: str) -> str:
    return f"listener.name.{listener.lower()}.plain.sasl.jaas.config"
