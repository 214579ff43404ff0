"""Brokers that replay access control entries and enforce none; controllers enforce them (against D631-43)."""

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
    rules=("D631-43", "SEC-06"),
    scenarios=("metadata-format-raised", "rights-outlast-the-leader"),
    unit="tests/cluster_impl/designs/quorum/broker",
)


def apply() -> None:
    def without_entries(config: SecurityConfig, _: Callable[[], Entries]) -> AccessControl | None:
        return access_control_of(config, dict)

    vars(broker_shell)["access_control_of"] = without_entries
