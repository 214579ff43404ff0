"""A leader that credits every fetch to the broker id it carries (against decision D631-16)."""

from __future__ import annotations

from fencepost.cluster_impl.replication import partition
from fencepost.cluster_impl.replication.follower import FollowerFetch
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-15221",
    designs=ALL,
    rules=("D631-16", "ISR-07"),
    scenarios=("foreign-fetches", "stale-requests", "refused-duplicate"),
    unit="tests/cluster_impl/replication/test_cluster.py::test_a_fetch_of_another_incarnation_commits_nothing",
)


def apply() -> None:
    partition.credits = _credits  # type: ignore[attr-defined]


def _credits(fetch: FollowerFetch, registered_epoch: int | None) -> Error:
    return Error.NONE
