"""The certificates of a run: for each address of a node, and with keys for its owner alone."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography.x509 import load_pem_x509_certificate

from fencepost.faults.capabilities import Certificate
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.targets.certificates import KEYSTORE, TRUSTSTORE, Authority

ADDRESSES = Addresses(20)
BEGIN = b"-----BEGIN CERTIFICATE-----"
BROKER = Node("node-4", 4, 4, frozenset({Role.BROKER}), ADDRESSES.node(4))
OTHER = Node("node-5", 5, 5, frozenset({Role.BROKER}), ADDRESSES.node(5))
LAYOUT = Layout(ADDRESSES, (BROKER, OTHER), site_names([]))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    made = Authority(tmp_path)
    made.install(BROKER, LAYOUT, tmp_path)
    return made


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> None:
    """Let the two agree in memory. Raises SSLError if they do not."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        server.wrap_bio(to_server, to_client, server_side=True),
        client.wrap_bio(to_client, to_server, server_hostname=name),
    ]
    while ends:
        for end in list(ends):
            try:
                end.do_handshake()
                ends.remove(end)
            except ssl.SSLWantReadError:
                pass


def of_node(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / KEYSTORE)
    return context


@pytest.mark.parametrize("name", ["node-4", "127.20.0.4", "127.20.105.4", "127.20.200.4", "127.20.201.4"])
def test_a_node_is_trusted_at_its_name_and_behind_each_link(name: str, authority: Authority, tmp_path: Path) -> None:
    handshake(of_node(tmp_path), authority.trusting, name)


def test_a_node_is_not_trusted_at_the_address_of_another(authority: Authority, tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match=r"IP address mismatch.*127\.20\.105\.5"):
        handshake(of_node(tmp_path), authority.trusting, "127.20.105.5")


def test_a_client_that_trusts_another_authority_does_not_trust_the_node(authority: Authority, tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="unable to get local issuer certificate"):
        handshake(of_node(tmp_path), Authority(tmp_path / "other").trusting, "node-4")


def test_only_the_owner_reads_the_key_of_a_node_and_that_of_the_authority_is_not_there(
    authority: Authority, tmp_path: Path
) -> None:
    assert (tmp_path / KEYSTORE).stat().st_mode & 0o777 == 0o600
    keys = [path.name for path in tmp_path.iterdir() if "PRIVATE KEY" in path.read_text()]
    assert keys == [KEYSTORE]
    assert (tmp_path / KEYSTORE).read_text().startswith("-----BEGIN PRIVATE KEY-----")  # PKCS #8
    assert (tmp_path / TRUSTSTORE).read_bytes() == authority.certificate.read_bytes()


def test_a_renewed_certificate_has_another_key_and_the_same_subject(authority: Authority, tmp_path: Path) -> None:
    """As every renewal in use: Apache Kafka takes up no other."""
    own = (tmp_path / KEYSTORE).read_bytes()
    renewed = authority.issue(BROKER, LAYOUT, Certificate.RENEWED)
    before, now = (load_pem_x509_certificate(pem[pem.index(BEGIN) :]) for pem in (own, renewed))
    assert before.public_key() != now.public_key()
    assert before.subject == now.subject
    assert {attribute.value for attribute in now.subject} == {"fencepost", "nodes", "node-4"}
