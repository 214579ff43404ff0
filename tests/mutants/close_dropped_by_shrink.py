"""A full queue that drops close requests too (against replication design V2, sendStateChange)."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.cluster_impl.designs.leader_driven.state_changes import queue
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import QueuedRequest


def apply() -> None:
    queue._latest_closes = _nothing


def _nothing(requests: Sequence[QueuedRequest]) -> list[QueuedRequest]:
    return []
