"""Brokers that append for every user that has logged in (against SEC-02)."""

from __future__ import annotations

from fencepost.cluster_impl.api.authorization import records
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("SEC-02",),
    scenarios=("rights-outlast-the-leader", "rights-outlast-the-controller"),
    unit="tests/cluster_impl/api/authorization",
)


def apply() -> None:
    records.produce = lambda request, asker, handler: handler(request)
