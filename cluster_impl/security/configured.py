"""The users, logins and permissions of a node, from its configuration."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.cluster_impl.config.security import SecurityConfig, jaas_key
from fencepost.cluster_impl.config.table import ConfigError
from fencepost.cluster_impl.security.access_control import AccessControl, Entries, entry_of
from fencepost.cluster_impl.security.acl import AccessList, Authorizer, NoAuthorizer
from fencepost.cluster_impl.security.jaas import LOGIN_MODULE, SCRAM_MODULE, PlainModule
from fencepost.cluster_impl.security.tls import client_tls
from fencepost.cluster_impl.wire.login import PLAIN, Access
from fencepost.cluster_impl.wire.sasl import MechanismUsers, PlainUsers
from fencepost.cluster_impl.wire.scram import ScramUsers


def users_of(config: SecurityConfig, listener: str) -> MechanismUsers | None:
    """Return the users of a listener; None if it accepts clients without a login. Raises ConfigError."""
    if not config.protocol_of(listener).has_logins:
        return None
    modules = {
        mechanism: module
        for mechanism in config.mechanisms
        if (module := _module(config, listener, mechanism)) is not None
    }
    if not modules:
        keys = " or ".join(jaas_key(listener, mechanism) for mechanism in config.mechanisms)
        protocol = config.protocol_of(listener).value
        raise ConfigError(f"the listener {listener} is {protocol}, so the key {keys} is missing.")
    plain = modules.pop(PLAIN, None)
    scram = {mechanism: ScramUsers(mechanism, module.passwords) for mechanism, module in modules.items()}
    return MechanismUsers(None if plain is None else PlainUsers(plain.passwords), scram)


def login_of(config: SecurityConfig, listener: str, *, of_controllers: bool = False) -> Access:
    """Return how this node connects to listeners of this name on other nodes. Raises ConfigError."""
    tls = client_tls(config, listener)
    if not config.protocol_of(listener).has_logins:
        return Access(tls=tls)
    mechanism = (config.controller_mechanism if of_controllers else None) or config.inter_broker_mechanism
    module = _module(config, listener, mechanism)
    if module is None:
        raise ConfigError(f"the key {jaas_key(listener, mechanism)} is missing: nodes log in to one another there.")
    if module.login is None:
        raise ConfigError(
            f"{jaas_key(listener, mechanism)} must give username and password: nodes log in to one another there."
        )
    return Access(module.login, tls, mechanism)


def access_control_of(config: SecurityConfig, entries: Callable[[], Entries]) -> AccessControl | None:
    """Return the access control of a node that enforces `entries`; None if it is configured without.

    Raises ConfigError for a file of permissions that cannot be read; its lines count as entries.
    """
    if config.authorizer is None:
        return None
    file = authorizer_of(config)
    fixed = [entry_of(rule) for rule in file.rules] if isinstance(file, AccessList) else []
    return AccessControl(entries, config.super_users, fixed, allow_if_none=config.allow_if_no_acl)


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


def _module(config: SecurityConfig, listener: str, mechanism: str) -> PlainModule | None:
    text = config.jaas_of(listener, mechanism)
    if text is None:
        return None
    try:
        return PlainModule.parse(text, LOGIN_MODULE if mechanism == PLAIN else SCRAM_MODULE)
    except ValueError as error:
        raise ConfigError(f"{jaas_key(listener, mechanism)} {error}.") from error
