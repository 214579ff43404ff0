"""Names and passwords of logins, and the errors and principals that mechanisms share.

The principal of a certificate is written as by Kafka: `User:CN=alice,O=shop`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

ANONYMOUS = "User:ANONYMOUS"
"""The principal of a client on a listener without authentication."""

PLAIN = "PLAIN"


def user_principal(name: str) -> str:
    """Return the principal of a user in Kafka's text form."""
    return f"User:{name}"


@dataclass(frozen=True, slots=True)
class PlainLogin:
    """The name and the password of a user."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """How one side connects to the other: with which login and mechanism, and over which TLS."""

    login: PlainLogin | None = None
    tls: SSLContext | None = None
    mechanism: str = PLAIN


class AuthenticationFailed(Exception):
    """A token that authenticates no user. The message is for the log: the client learns no more than that it failed."""


_SHORT: Mapping[str, str] = {
    "commonName": "CN",
    "organizationalUnitName": "OU",
    "organizationName": "O",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "countryName": "C",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
_SPECIAL = re.compile(r'([,+"\\<>;])')


def certificate_principal(certificate: Mapping[str, Any]) -> str:
    """Return the principal of a verified certificate, as `ssl` describes it: its subject by RFC 2253, last part first.

    A certificate without a subject names no user.
    """
    parts = [
        f"{_SHORT.get(name, name)}={_escaped(value)}"
        for part in reversed(certificate.get("subject", ()))
        for name, value in part
    ]
    return user_principal(",".join(parts)) if parts else ANONYMOUS


def _escaped(value: str) -> str:
    return _SPECIAL.sub(lambda match: "\\" + match[0], value)
