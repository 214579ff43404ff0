"""The certificates that nodes show, changed as their administrator does it."""

from __future__ import annotations

import socket
import ssl

from fencepost.faults.capabilities import CapabilityError, Certificate, Shown
from fencepost.harness.cluster.administrator import TIMEOUT, alter_settings
from fencepost.harness.network.layout import Layout, Listener
from fencepost.harness.targets.certificates import KEYSTORE, Authority, fingerprint, fingerprint_of
from fencepost.harness.targets.target import Installation


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
