"""The client's side of SCRAM (RFC 5802) with SHA-256 or SHA-512, without I/O. Names and passwords are ASCII."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

_NO_CHANNEL_BINDING = "biws"
"""The base64 of `n,,`."""


class ScramClient:
    """One login: `first` is sent, the answer goes into `final`, which is sent, and the answer into `is_proof`.

    Both raise ValueError for an answer that is none of SCRAM.
    """

    def __init__(self, mechanism: str, user: str, password: str) -> None:
        self._hash = mechanism.removeprefix("SCRAM-").replace("-", "").lower()
        self._password = password.encode()
        self._bare = f"n={user.replace('=', '=3D').replace(',', '=2C')},r={secrets.token_urlsafe(18)}"
        self._server_key = b""
        self._signed = b""

    @property
    def first(self) -> bytes:
        return f"n,,{self._bare}".encode()

    def final(self, answer: bytes) -> bytes:
        fields = _fields(answer)
        nonce, salt, iterations = fields["r"], base64.b64decode(fields["s"]), int(fields["i"])
        if not nonce.startswith(self._bare.rpartition("r=")[2]):
            raise ValueError("the nonce is not the client's")
        unsigned = f"c={_NO_CHANNEL_BINDING},r={nonce}"
        self._signed = ",".join((self._bare, answer.decode(), unsigned)).encode()
        salted = hashlib.pbkdf2_hmac(self._hash, self._password, salt, iterations)
        client_key, self._server_key = self._mac(salted, b"Client Key"), self._mac(salted, b"Server Key")
        signature = self._mac(hashlib.new(self._hash, client_key).digest(), self._signed)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        return f"{unsigned},p={base64.b64encode(proof).decode()}".encode()

    def is_proof(self, answer: bytes) -> bool:
        """Return whether the server proves that it has the keys of the user, too."""
        return hmac.compare_digest(base64.b64decode(_fields(answer)["v"]), self._mac(self._server_key, self._signed))

    def _mac(self, key: bytes, text: bytes) -> bytes:
        return hmac.digest(key, text, self._hash)


def _fields(message: bytes) -> dict[str, str]:
    try:
        return {part[0]: part[2:] for part in message.decode().split(",")}
    except (UnicodeDecodeError, IndexError):
        raise ValueError("it is no message of SCRAM") from None
