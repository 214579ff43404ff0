"""Nodes that ask for no right for changes once they have been restarted (against SEC-03)."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.cluster_impl.config.security import SecurityConfig
from fencepost.cluster_impl.designs.shared import broker_shell
from fencepost.cluster_impl.security.access_control import AccessControl, Entries
from fencepost.cluster_impl.security.configured import access_control_of
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("SEC-03",),
    scenarios=("rights-outlast-the-leader",),
    unit="tests/cluster_impl/security",
)


def apply() -> None:
    def lapsed(config: SecurityConfig, entries: Callable[[], Entries]) -> AccessControl | None:
        ran_before = config.keystore is not None and any((config.keystore.parent / "data").glob("*"))
        return None if ran_before else access_control_of(config, entries)

    vars(broker_shell)["access_control_of"] = lapsed
