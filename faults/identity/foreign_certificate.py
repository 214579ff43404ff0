"""A node is started with a certificate of another authority."""

from __future__ import annotations

from typing import ClassVar

from fencepost.faults.capabilities import Certificate
from fencepost.faults.identity.certificate_fault import CertificateFault, CertificateParameters


class ForeignCertificateParameters(CertificateParameters):
    """SIGKILL, a certificate of another authority, and a start with it. Healed by the node's own, and a start."""


class ForeignCertificate(CertificateFault):
    """The node's certificate is of an authority that no other node and no client trusts.

    Models a certificate that was issued by the authority of another environment, and a process that answers in the
    place of a node. The node itself trusts the cluster's authority, and reaches others. Apache Kafka does not start
    with it. Healed by its own certificate, and a start.

    `proven` by a handshake with the node, which a client that trusts the authority ends, or by the node's own end.
    """

    name: ClassVar[str] = "foreign-certificate"
    phrase = "{node} are started with a certificate of another authority"
    Parameters = ForeignCertificateParameters
    weight = 1
    given = Certificate.FOREIGN
