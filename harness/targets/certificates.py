"""The certificates of one run: an authority of its own, which signs one for each node.

A node's certificate has its name and every address at which it is reached. Private keys are readable by their owner
alone; that of the authority is never written.
"""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Certificate
from fencepost.harness.network.layout import Layout, Node

if TYPE_CHECKING:
    from trustme import LeafCert

KEYSTORE, TRUSTSTORE = "keystore.pem", "truststore.pem"
"""The files of a node: its private key with its certificate, and the certificate of the authority."""


class Authority:
    """Signs the certificates of a run. `folder` gets its own, `ca.pem`, for the clients."""

    def __init__(self, folder: Path) -> None:
        from trustme import CA  # only secured clusters need it, and it takes a tenth of a second

        self._ca = CA(organization_name="fencepost")
        self.certificate = folder / "ca.pem"
        folder.mkdir(exist_ok=True)
        self._ca.cert_pem.write_to_path(self.certificate)

    @cached_property
    def trusting(self) -> ssl.SSLContext:
        """The TLS of a client that trusts this authority alone, and verifies the address of the node."""
        return trusting(self.certificate)

    def install(self, node: Node, layout: Layout, home: Path) -> None:
        """Write the key and the certificates of a node into its folder."""
        keystore = home / KEYSTORE
        keystore.touch(0o600)
        keystore.write_bytes(self.issue(node, layout, Certificate.OWN))
        self._ca.cert_pem.write_to_path(home / TRUSTSTORE)

    def issue(self, node: Node, layout: Layout, kind: Certificate) -> bytes:
        """Return a new private key of a node with its certificate, in PEM.

        Its subject is always the same: Apache Kafka takes up no certificate with another one while it runs (KIP-978).
        """
        from trustme import CA

        authority = CA(organization_name="another authority") if kind is Certificate.FOREIGN else self._ca
        until = datetime.now(UTC) - timedelta(days=1) if kind is Certificate.EXPIRED else None
        made = authority.issue_cert(
            *_identities(node, layout),
            common_name=node.name,
            organization_name="fencepost",
            organization_unit_name="nodes",
            not_after=until,
        )
        return _key(made) + b"".join(part.bytes() for part in made.cert_chain_pems)


def trusting(certificate: Path) -> ssl.SSLContext:
    """Return the TLS of a client that trusts the authorities of this PEM file alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(certificate)
    return context


def fingerprint(certificate: bytes) -> str:
    """Return the beginning of the SHA-256 of a certificate in DER."""
    return hashlib.sha256(certificate).hexdigest()[:16]


def fingerprint_of(keystore: Path) -> str:
    """Return that of the first certificate in a file of `install`."""
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    first = keystore.read_text().partition(begin)[2].partition(end)[0]
    return fingerprint(ssl.PEM_cert_to_DER_cert(f"{begin}{first}{end}"))


def _key(made: LeafCert) -> bytes:
    """Return the private key in PKCS #8, the only form that Apache Kafka reads."""
    from cryptography.hazmat.primitives import serialization as form

    key = form.load_pem_private_key(made.private_key_pem.bytes(), None)
    return key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())


def _identities(node: Node, layout: Layout) -> Iterator[str]:
    yield node.name
    yield node.address
    ends = {proxy.listen.host for proxy in layout.links() if proxy.upstream.host == node.address}
    yield from sorted(ends)
