"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), both sides of a login, without any I/O.

The password never crosses the wire, and the server keeps a salted key in place of it. Channel binding and proxies (an
authorization id other than the user) are not supported, as in Kafka.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from fencepost.cluster_impl.wire.login import AuthenticationFailed, PlainLogin, user_principal

ALGORITHMS: Mapping[str, str] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
"""The hash of each mechanism."""

ITERATIONS = 4096
_SALT_BYTES = 16
_NO_BINDING = "n,,"


@dataclass(frozen=True, slots=True)
class Credential:
    """The salted keys that a server keeps of a user."""

    salt: bytes
    iterations: int
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)

    @classmethod
    def of(cls, algorithm: str, password: str) -> Credential:
        salt = secrets.token_bytes(_SALT_BYTES)
        salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, ITERATIONS)
        client_key = hmac.digest(salted, b"Client Key", algorithm)
        stored = hashlib.new(algorithm, client_key).digest()
        return cls(salt, ITERATIONS, stored, hmac.digest(salted, b"Server Key", algorithm))


class ScramUsers:
    """The users of a listener for one mechanism."""

    def __init__(self, mechanism: str, passwords: Mapping[str, str]) -> None:
        self.algorithm = ALGORITHMS[mechanism]
        self._credentials = {name: Credential.of(self.algorithm, password) for name, password in passwords.items()}

    def credential(self, name: str) -> Credential:
        """Return the credential of a user. Raises AuthenticationFailed."""
        found = self._credentials.get(name)
        if found is None:
            raise AuthenticationFailed(f"there is no user {name!r}")
        return found


class ScramServer:
    """One login at a server: two messages of the client, two answers."""

    def __init__(self, users: ScramUsers) -> None:
        self.principal: str | None = None
        self._users = users
        self._name = ""
        self._nonce = ""
        self._first = ""
        """The parts of the first two messages that are signed."""

    def step(self, token: bytes) -> bytes:
        """Answer a message of the client; `principal` is set after the last. Raises AuthenticationFailed."""
        text = _text(token)
        return self._begin(text) if not self._nonce else self._finish(text)

    def _begin(self, text: str) -> bytes:
        if not text.startswith("n,"):
            raise AuthenticationFailed("the client wants channel binding, which is not supported")
        authorization, _, bare = text[2:].partition(",")
        fields = _fields(bare)
        self._name = _decoded(fields.get("n", ""))
        if authorization not in ("", f"a={fields.get('n')}"):
            raise AuthenticationFailed(f"{self._name} asks for the rights of another user")
        if not fields.get("r"):
            raise AuthenticationFailed("the client's first message has no nonce")
        credential = self._users.credential(self._name)
        self._nonce = fields["r"] + secrets.token_urlsafe(18)
        answer = f"r={self._nonce},s={_base64(credential.salt)},i={credential.iterations}"
        self._first = f"{bare},{answer}"
        return answer.encode()

    def _finish(self, text: str) -> bytes:
        without_proof, _, proof = text.rpartition(",p=")
        if _fields(without_proof).get("r") != self._nonce:
            raise AuthenticationFailed(f"the nonce of {self._name} is not the one of this login")
        algorithm, credential = self._users.algorithm, self._users.credential(self._name)
        signed = f"{self._first},{without_proof}".encode()
        signature = hmac.digest(credential.stored_key, signed, algorithm)
        client_key = _xor(_unbase64(proof), signature)
        if not hmac.compare_digest(hashlib.new(algorithm, client_key).digest(), credential.stored_key):
            raise AuthenticationFailed(f"the password of {self._name!r} is wrong")
        self.principal = user_principal(self._name)
        return b"v=" + base64.b64encode(hmac.digest(credential.server_key, signed, algorithm))


class ScramClient:
    """One login of a client: `first`, then `final` with the server's answer, then `verify` with its last one."""

    def __init__(self, mechanism: str, login: PlainLogin) -> None:
        self._algorithm = ALGORITHMS[mechanism]
        self._login = login
        name = login.username.replace("=", "=3D").replace(",", "=2C")
        self._nonce = secrets.token_urlsafe(18)
        self._bare = f"n={name},r={self._nonce}"
        self._expected = b""

    def first(self) -> bytes:
        return f"{_NO_BINDING}{self._bare}".encode()

    def final(self, answer: bytes) -> bytes:
        """Return the proof of the password. Raises AuthenticationFailed for an answer to another login."""
        text = _text(answer)
        fields = _fields(text)
        if not fields.get("r", "").startswith(self._nonce) or not fields.get("i", "").isdecimal():
            raise AuthenticationFailed("the server answered another login")
        salted = hashlib.pbkdf2_hmac(
            self._algorithm, self._login.password.encode(), _unbase64(fields.get("s", "")), int(fields["i"])
        )
        client_key = hmac.digest(salted, b"Client Key", self._algorithm)
        without_proof = f"c={_base64(_NO_BINDING.encode())},r={fields['r']}"
        signed = f"{self._bare},{text},{without_proof}".encode()
        stored = hashlib.new(self._algorithm, client_key).digest()
        proof = _xor(client_key, hmac.digest(stored, signed, self._algorithm))
        self._expected = hmac.digest(hmac.digest(salted, b"Server Key", self._algorithm), signed, self._algorithm)
        return f"{without_proof},p={_base64(proof)}".encode()

    def verify(self, answer: bytes) -> None:
        """Raise AuthenticationFailed unless the server knows the password as well."""
        if not hmac.compare_digest(_unbase64(_fields(_text(answer)).get("v", "")), self._expected):
            raise AuthenticationFailed("the server does not know the password")


def _text(token: bytes) -> str:
    try:
        return token.decode()
    except UnicodeDecodeError:
        raise AuthenticationFailed("the token is not UTF-8") from None


def _fields(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in text.split(","))}


def _decoded(name: str) -> str:
    return name.replace("=2C", ",").replace("=3D", "=")


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _unbase64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise AuthenticationFailed("the token is not one of SCRAM") from None


def _xor(left: bytes, right: bytes) -> bytes:
    if len(left) != len(right):
        raise AuthenticationFailed("the proof has a wrong length")
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
