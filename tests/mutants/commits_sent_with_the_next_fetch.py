"""A leader that tells followers of a commit by the next answer only, also where clients read of them (DRACK-06)."""

from __future__ import annotations

from fencepost.cluster_impl.api.readers import Follower
from fencepost.cluster_impl.replication.replica import Replica


def apply() -> None:
    Follower.lacks = _lacks_nothing  # type: ignore[method-assign]


def _lacks_nothing(self: Follower, replica: Replica) -> bool:
    return False
