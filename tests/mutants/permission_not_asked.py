"""Controllers that ask no sender for the permission ClusterAction (against K631-10)."""

from __future__ import annotations

from fencepost.cluster_impl.security import cluster_action
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-10",),
    scenarios=("logins-between-nodes",),
    unit=(
        "tests/cluster_impl/security/test_cluster_action.py::"
        "test_a_controller_does_nothing_for_a_sender_without_the_permission"
    ),
)


def apply() -> None:
    vars(cluster_action)["denial"] = lambda *_, **__: None
