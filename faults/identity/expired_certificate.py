"""A node is started with a certificate that has expired."""

from __future__ import annotations

from typing import ClassVar

from fencepost.faults.capabilities import Certificate
from fencepost.faults.identity.certificate_fault import CertificateFault, CertificateParameters


class ExpiredCertificateParameters(CertificateParameters):
    """SIGKILL, a certificate that has expired, and a start with it. Healed by the node's own, and a start."""


class ExpiredCertificate(CertificateFault):
    """The node's certificate is one of the cluster's authority that was valid until yesterday.

    Models a renewal that was forgotten. The node reaches others, which do not ask for its certificate, so it registers
    and follows; followers and clients do not reach it. Apache Kafka does not start with it. Does not model a
    certificate that expires while connections are open, which go on. Healed by its own certificate, and a start.

    `proven` by a handshake with the node, which a client that trusts the authority ends, or by the node's own end.
    """

    name: ClassVar[str] = "expired-certificate"
    phrase = "{node} are started with a certificate that has expired"
    Parameters = ExpiredCertificateParameters
    weight = 1
    given = Certificate.EXPIRED
