"""A leader that tells followers of a commit by the next answer only, also where clients read of them (DRACK-06)."""

from __future__ import annotations

from fencepost.cluster_impl.api.readers import Follower
from fencepost.cluster_impl.replication.replica import Replica
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DRACK-06",),
    scenarios=("rack-reads-on",),
    unit=(
        "tests/cluster_impl/api/test_read_replica.py::"
        "test_a_client_that_waits_at_a_follower_gets_a_record_once_it_is_committed"
    ),
)


def apply() -> None:
    Follower.lacks = _lacks_nothing  # type: ignore[method-assign]


def _lacks_nothing(self: Follower, replica: Replica) -> bool:
    return False
