"""A full queue that drops close requests too (against replication design V2, sendStateChange)."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.cluster_impl.designs.leader_driven.state_changes import queue
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import QueuedRequest
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    designs=(LEADER_DRIVEN,),
    rules=("LD-40",),
    scenarios=("v2-queue-full",),
    unit=(
        "tests/mutants/test_leader_driven_guarantees.py::"
        "test_a_full_queue_keeps_of_each_partition_the_latest_that_has_to_be_closed"
    ),
)


def apply() -> None:
    queue._latest_closes = _nothing


def _nothing(requests: Sequence[QueuedRequest]) -> list[QueuedRequest]:
    return []
