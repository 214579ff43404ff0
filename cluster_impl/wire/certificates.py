"""The user that a client's certificate names, as Kafka writes it: `User:CN=alice,O=shop`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fencepost.cluster_impl.wire.login import ANONYMOUS, user_principal

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
    return _SPECIAL.sub(lambda found: "\\" + found[0], value)
