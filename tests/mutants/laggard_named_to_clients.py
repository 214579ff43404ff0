"""A leader that sends clients to a replica in their rack that is not in sync, with which they lag (KAFKA-14372)."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.cluster_impl.api import readers
from fencepost.cluster_impl.replication.partition import Partition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14372",
    designs=(QUORUM,),
    rules=("DRACK-02",),
    scenarios=("rack-reads-on",),
    unit=(
        "tests/cluster_impl/replication/test_read_replica.py::"
        "test_only_a_live_in_sync_replica_that_has_the_offset_is_read"
    ),
)


def apply() -> None:
    def replica_in_rack(leader: Partition, rack: str, offset: int, racks: Mapping[int, str | None]) -> int | None:
        if not rack or leader.role is not ReplicaRole.LEADER or racks.get(leader.broker_id) == rack:
            return None
        near = [
            (known.log_end_offset, known.last_caught_up, replica)
            for replica, known in leader.followers.items()
            if racks.get(replica) == rack and known.log_start_offset <= offset <= known.log_end_offset
        ]
        return max(near)[2] if near else None

    readers.replica_in_rack = replica_in_rack
