"""The certificates that nodes show, and the users that brokers let in, changed as an administrator does it.

Requests of an administrator reach a broker past all links that faults break, and log in as the user of nodes: no fault
takes that one away.
"""

from __future__ import annotations

import hashlib
import secrets
import socket
import ssl
import time
from collections.abc import Mapping

from kio.schema.alter_user_scram_credentials.v0.request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kio.schema.alter_user_scram_credentials.v0.response import AlterUserScramCredentialsResponse
from kio.schema.errors import ErrorCode
from kio.schema.incremental_alter_configs.v1.request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kio.schema.incremental_alter_configs.v1.response import IncrementalAlterConfigsResponse
from kio.static.primitive import i8, i32

from fencepost.faults.capabilities import CapabilityError, Certificate, Shown
from fencepost.harness.clients.login import Credentials, connect
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.network.layout import Layout, Listener
from fencepost.harness.plan.security import BROKER_USER, PASSWORDS
from fencepost.harness.targets.certificates import KEYSTORE, Authority, fingerprint, fingerprint_of
from fencepost.harness.targets.security import access, login_module, login_module_key
from fencepost.harness.targets.target import Installation
from fencepost.harness.wire.no_answer import NoAnswer, Refused

TIMEOUT = 10.0
"""Seconds for a connection, for each request on it, and for a controller to be there."""
ASK_EVERY = 0.1
OF_BROKERS, SET, DELETE = i8(4), i8(0), i8(1)
"""Kafka's numbers of a type of resource, and of operations on settings."""
ITERATIONS = 4096
MECHANISMS = {"SCRAM-SHA-256": (i8(1), "sha256"), "SCRAM-SHA-512": (i8(2), "sha512")}


class NodeCertificates:
    """Implements `fencepost.faults.capabilities.Certificates`."""

    def __init__(self, layout: Layout, installation: Installation) -> None:
        self._layout = layout
        self._installation = installation
        self._own: dict[str, bytes] = {}
        """The keys and certificates of the beginning, of nodes that were given others."""

    def give(self, node: str, certificate: Certificate) -> None:
        keystore = self._installation.home(self._layout.node(node)) / KEYSTORE
        own = self._own.setdefault(node, keystore.read_bytes())
        if certificate is not Certificate.OWN:
            keystore.write_bytes(self._authority.issue(self._layout.node(node), self._layout, certificate))
        elif keystore.read_bytes() != own:
            keystore.write_bytes(own)

    def held(self, node: str) -> str:
        self._authority  # noqa: B018 - without TLS there is no such file
        return fingerprint_of(self._installation.home(self._layout.node(node)) / KEYSTORE)

    def read_anew(self, node: str) -> None:
        self._set(node, str(self._installation.home(self._layout.node(node)) / KEYSTORE))

    def forget(self, node: str) -> None:
        self._set(node, None)

    def shown(self, node: str) -> Shown | None:
        unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
        try:
            shown = self._handshake(node, unverified)
            try:
                self._handshake(node, self._authority.trusting)
            except ssl.SSLCertVerificationError as error:
                return Shown(fingerprint(shown), error.verify_message)
        except OSError:
            return None
        return Shown(fingerprint(shown), None)

    def _set(self, node: str, keystore: str | None) -> None:
        if not self._layout.node(node).is_broker:
            raise CapabilityError(f"{node} is no broker: only brokers read their certificate again while they run")
        security = self._installation.security.listeners
        with_tls = [each for each in (Listener.INTERNAL, Listener.CLIENT) if security[each].has_tls]
        settings = dict.fromkeys((f"listener.name.{each.lower()}.ssl.keystore.location" for each in with_tls), keystore)
        alter_settings(node, settings, self._layout, self._installation)

    def _handshake(self, node: str, tls: ssl.SSLContext) -> bytes:
        """Return the certificate that the node shows. Raises OSError."""
        described = self._layout.node(node)
        listener = Listener.CLIENT if described.is_broker else Listener.CONTROLLER
        at = self._layout.probe_link(node, listener).listen
        with (
            socket.create_connection((at.host, at.port), TIMEOUT) as connection,
            tls.wrap_socket(connection, server_hostname=at.host) as secured,
        ):
            return secured.getpeercert(binary_form=True) or b""

    @property
    def _authority(self) -> Authority:
        if self._installation.authority is None or not self._installation.security.client.has_tls:
            raise CapabilityError("clients see no certificates: take a `security` with TLS, such as tls-scram")
        return self._installation.authority


class BrokerUsers:
    """Implements `fencepost.faults.capabilities.Users`."""

    def __init__(self, layout: Layout, installation: Installation, *, keeps_scram_users: bool) -> None:
        """`keeps_scram_users`: users of SCRAM are in the metadata of the cluster, as in Apache Kafka. All others are in
        the login modules of brokers."""
        self._layout = layout
        self._installation = installation
        self._keeps_scram_users = keeps_scram_users

    def change(self, user: str, password: str | None) -> None:
        if self._in_metadata:
            self._alter_credential(user, password)
            return
        others = {name: known for name, known in PASSWORDS.items() if name != user}
        self._alter_login_module(others if password is None else {**others, user: password})

    def restore(self, user: str) -> None:
        if self._in_metadata:
            self._alter_credential(user, PASSWORDS[user])
        else:
            self._alter_login_module(None)

    def let_in(self, user: str, password: str | None = None) -> Mapping[str, bool]:
        given = Credentials(user, password or PASSWORDS[user], self._usual.mechanism)
        return {node: self._lets_in(node, given) for node in self._brokers}

    def _lets_in(self, node: str, credentials: Credentials) -> bool:
        known = access(Listener.CLIENT, self._installation)
        at = self._layout.probe_link(node, Listener.CLIENT).listen
        try:
            connect(at, TIMEOUT, known._replace(credentials=credentials)).close()
        except Refused:
            return False
        except NoAnswer as error:
            raise CapabilityError(f"{node} answers no login: {error}") from error
        return True

    def _alter_login_module(self, passwords: Mapping[str, str] | None) -> None:
        mechanism = self._usual.mechanism
        module = None if passwords is None else login_module(Listener.CLIENT, mechanism, passwords)
        settings = {login_module_key(Listener.CLIENT, mechanism): module}
        for node in self._brokers:
            alter_settings(node, settings, self._layout, self._installation)

    def _alter_credential(self, user: str, password: str | None) -> None:
        mechanism, algorithm = MECHANISMS[self._usual.mechanism]
        deletions, upsertions = [], []
        if password is None:
            deletions.append(ScramCredentialDeletion(name=user, mechanism=mechanism))
        else:
            salt = secrets.token_bytes(16)
            salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, ITERATIONS)
            upsertion = ScramCredentialUpsertion(
                name=user, mechanism=mechanism, iterations=i32(ITERATIONS), salt=salt, salted_password=salted
            )
            upsertions.append(upsertion)
        request = AlterUserScramCredentialsRequest(deletions=tuple(deletions), upsertions=tuple(upsertions))
        node = next(iter(self._brokers))
        try:
            with administrator(node, self._layout, self._installation) as connection:
                (result,) = connection.call(request, AlterUserScramCredentialsResponse).results
        except NoAnswer as error:
            raise CapabilityError(f"{node} does not change the user {user}: {error}") from error
        if result.error_code:
            raise CapabilityError(f"{node} does not change the user {user}: {result.error_code.name}")

    @property
    def _usual(self) -> Credentials:
        """Return those of the clients of the harness."""
        found = access(Listener.CLIENT, self._installation).credentials
        if found is None:
            raise CapabilityError("clients do not log in: take a `security` with logins of clients, such as tls-scram")
        return found

    @property
    def _in_metadata(self) -> bool:
        return self._keeps_scram_users and self._usual.mechanism != "PLAIN"

    @property
    def _brokers(self) -> tuple[str, ...]:
        return tuple(node.name for node in self._layout.brokers if node.duplicate_of is None)


def administrator(node: str, layout: Layout, installation: Installation) -> RawConnection:
    """Return a connection to a broker, as the user of nodes where there are logins. Raises NoAnswer."""
    known = access(Listener.CLIENT, installation)
    if known.credentials is not None:
        own = known.credentials._replace(user=BROKER_USER, password=PASSWORDS[BROKER_USER])
        known = known._replace(credentials=own)
    return connect(layout.probe_link(node, Listener.CLIENT).listen, TIMEOUT, known)


def alter_settings(node: str, settings: Mapping[str, str | None], layout: Layout, installation: Installation) -> None:
    """Set settings of a broker that runs, or take them away (None). Raises CapabilityError."""
    changes = (
        AlterableConfig(name=name, config_operation=DELETE if value is None else SET, value=value)
        for name, value in settings.items()
    )
    of_broker = AlterConfigsResource(
        resource_type=OF_BROKERS, resource_name=str(layout.node(node).id), configs=tuple(changes)
    )
    request = IncrementalAlterConfigsRequest(resources=(of_broker,), validate_only=False)
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            with administrator(node, layout, installation) as connection:
                (result,) = connection.call(request, IncrementalAlterConfigsResponse).responses
        except NoAnswer as error:
            raise CapabilityError(f"{node} does not change its settings: {error}") from error
        if result.error_code is not ErrorCode.not_controller or time.monotonic() > deadline:
            break
        time.sleep(ASK_EVERY)  # an election is going on
    if result.error_code:
        raise CapabilityError(f"{node} does not change its settings: {result.error_message or result.error_code.name}")
