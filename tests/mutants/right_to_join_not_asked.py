"""Coordinators that let every user join every group (against SEC-04)."""

from __future__ import annotations

from fencepost.cluster_impl.api.authorization import groups
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("SEC-04",),
    scenarios=("rights-outlast-the-leader", "rights-outlast-the-controller"),
    unit="tests/cluster_impl/api/authorization",
)


def apply() -> None:
    groups.join = lambda request, asker, handler: handler(request)
