"""The users that brokers let in, changed as an administrator does it."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping

from kio.schema.alter_user_scram_credentials.v0.request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kio.schema.alter_user_scram_credentials.v0.response import AlterUserScramCredentialsResponse
from kio.static.primitive import i8, i32

from fencepost.faults.capabilities import CapabilityError
from fencepost.harness.clients.login import Credentials, connect
from fencepost.harness.cluster.administrator import TIMEOUT, administrator, alter_settings
from fencepost.harness.network.layout import Layout, Listener
from fencepost.harness.plan.security import PASSWORDS
from fencepost.harness.targets.security import access, login_module, login_module_key
from fencepost.harness.targets.target import Installation
from fencepost.harness.wire.no_answer import NoAnswer, Refused

ITERATIONS = 4096
MECHANISMS = {"SCRAM-SHA-256": (i8(1), "sha256"), "SCRAM-SHA-512": (i8(2), "sha512")}
"""Kafka's numbers of the mechanisms, and their hashes."""


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
