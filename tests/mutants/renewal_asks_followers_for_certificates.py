"""Brokers that want certificates of their followers once their own was renewed, and trust none (against SEC-09)."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

from fencepost.cluster_impl.designs.shared.node_shell import NodeShell
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("SEC-09",),
    scenarios=("renewed-certificate",),
    unit="tests/cluster_impl/security",
)


def apply() -> None:
    secure = NodeShell.secure

    def asks(self: NodeShell, settings: Mapping[str, str]) -> None:
        secure(self, settings)
        for at, _, tls in self._listeners:
            if tls is not None and at.name == "INTERNAL":
                tls.verify_mode = ssl.CERT_REQUIRED

    NodeShell.secure = asks  # type: ignore[method-assign]
