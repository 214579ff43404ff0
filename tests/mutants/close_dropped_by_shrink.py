"""A full queue that forgets also what has to be closed (against replication design V2, sendStateChange)."""

from __future__ import annotations

from collections.abc import Sequence

from cluster_impl.designs.leader_driven.state_changes import queue
from cluster_impl.designs.leader_driven.state_changes.request import Queued


def apply() -> None:
    queue._latest_closes = _nothing


def _nothing(requests: Sequence[Queued]) -> list[Queued]:
    return []
