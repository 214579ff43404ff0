"""TLS of listeners, and of this node's connections to others, from PEM files (Kafka's ssl.* keys with type PEM).

`ssl.keystore.location` has the private key and the certificate chain, `ssl.truststore.location` the certificates of the
authorities that sign those of others.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from fencepost.cluster_impl.config.security import ClientAuth, SecurityConfig
from fencepost.cluster_impl.config.table import ConfigError

_CLIENT_CERTIFICATES = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.REQUESTED: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}


def server_tls(config: SecurityConfig, listener: str) -> ssl.SSLContext | None:
    """Return the TLS of a listener; None for one without. Raises ConfigError."""
    if not config.protocol_of(listener).has_tls:
        return None
    if config.keystore is None:
        raise ConfigError(f"the listener {listener} has TLS, so the key ssl.keystore.location is missing.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_key(context, config, config.keystore)
    context.verify_mode = _CLIENT_CERTIFICATES[config.client_auth]
    if context.verify_mode is not ssl.CERT_NONE:
        _trust(context, config, "ssl.client.auth")
    return context


def client_tls(config: SecurityConfig, listener: str) -> ssl.SSLContext | None:
    """Return the TLS by which this node connects to listeners of this name elsewhere; None without. Raises ConfigError.

    The name of the other node is verified unless ssl.endpoint.identification.algorithm is empty, as in Kafka.
    """
    if not config.protocol_of(listener).has_tls:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = config.verifies_hosts
    _trust(context, config, f"the listener {listener}")
    if config.keystore is not None:
        load_key(context, config, config.keystore)
    return context


def load_key(context: ssl.SSLContext, config: SecurityConfig, keystore: Path) -> None:
    """Read private key and certificates; later handshakes show these. Raises ConfigError, and nothing changes then."""
    _check_file(keystore, "ssl.keystore.location")
    try:
        # Without a password, OpenSSL would ask for one on the terminal.
        context.load_cert_chain(keystore, password=config.key_password or "")
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"ssl.keystore.location: {keystore} is not a PEM file of a private key and its certificate, or "
            f"ssl.key.password is wrong: {error}."
        ) from error


def _trust(context: ssl.SSLContext, config: SecurityConfig, needed_by: str) -> None:
    if config.truststore is None:
        raise ConfigError(f"the key ssl.truststore.location is missing, which {needed_by} needs.")
    _check_file(config.truststore, "ssl.truststore.location")
    try:
        context.load_verify_locations(config.truststore)
    except ssl.SSLError as error:
        raise ConfigError(
            f"ssl.truststore.location: {config.truststore} is not a PEM file of certificates: {error}."
        ) from error


def _check_file(path: Path, key: str) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise ConfigError(f"{key}: {path} cannot be read: {error.strerror}.") from error
