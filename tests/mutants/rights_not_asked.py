"""Nodes that ask no user for a right: after a login each may do everything (against SEC-01 to SEC-05)."""

from __future__ import annotations

from fencepost.cluster_impl.security.access_control import AccessControl
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("SEC-01", "SEC-02", "SEC-03", "SEC-04", "SEC-05", "D631-43"),
    scenarios=("rights-outlast-the-leader", "metadata-format-raised"),
    unit="tests/cluster_impl/security/test_access_control.py::test_only_a_super_user_may_do_what_no_entry_allows",
)


def apply() -> None:
    AccessControl.allows = lambda *_: True  # type: ignore[method-assign]
