"""Nodes that connect to any other, whatever certificate it shows (against SEC-08)."""

from __future__ import annotations

import ssl

from fencepost.cluster_impl.config.security import SecurityConfig
from fencepost.cluster_impl.security import configured
from fencepost.cluster_impl.security.tls import client_tls
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("SEC-08",),
    scenarios=("expired-certificate", "foreign-certificate"),
    unit="tests/cluster_impl/security",
)


def apply() -> None:
    def unverified(config: SecurityConfig, listener: str) -> ssl.SSLContext | None:
        context = client_tls(config, listener)
        if context is not None:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context

    vars(configured)["client_tls"] = unverified
