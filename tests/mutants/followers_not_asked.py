"""Leaders that believe every sender of a Fetch that it is the follower that it says (against SEC-05)."""

from __future__ import annotations

from fencepost.cluster_impl.security import cluster_action
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("SEC-05",),
    scenarios=("rights-outlast-the-leader", "rights-outlast-the-controller"),
    unit="tests/cluster_impl/security/test_cluster_action.py",
)


def apply() -> None:
    vars(cluster_action)["_is_of_client"] = lambda request: isinstance(request, m.FetchRequest)
