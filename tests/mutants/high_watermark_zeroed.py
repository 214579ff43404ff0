"""A replica that loses its high watermark with its process (KAFKA-769; against replication design V2, startReplica).

Where followers cut their logs to it they lose everything, and copy it again, if anybody still has it.
"""

from __future__ import annotations

from typing import Any

from fencepost.cluster_impl.replication import store
from fencepost.cluster_impl.replication.partition import Partition
from tests.mutants.defect import LEADER_DRIVEN, ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-769",
    designs=(ZK, LEADER_DRIVEN),
    rules=("HW-01", "HW-06", "ACK-01"),
    scenarios=("below-min-isr", "truncated-and-elected"),
    unit=(
        "tests/cluster_impl/replication/test_cluster_v2.py::"
        "test_a_restart_begins_at_the_high_watermark_that_was_written_down_or_at_the_end_if_that_is_lower"
    ),
)


def apply() -> None:
    store.Partition = _forgetful  # type: ignore[assignment, attr-defined]


def _forgetful(*given: Any, **named: Any) -> Partition:
    return Partition(*given, **{**named, "high_watermark": 0})
