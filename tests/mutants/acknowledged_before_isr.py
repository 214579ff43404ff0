"""A leader that acknowledges records that its in-sync replicas lack (against replication design V2, commit thread)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("ACK-01", "HW-02"),
    scenarios=("v2-cut-from-followers-fetches", "slow-follower", "leader-killed", "sleeping-leader"),
    unit=(
        "tests/cluster_impl/replication/test_rules.py::test_what_is_written_after_that_waits_for_every_in_sync_replica"
    ),
)


def apply() -> None:
    honest = Partition.acknowledges

    def hasty(self: Partition, required_offset: int, led_since: int) -> Error | None:
        if self.role is ReplicaRole.LEADER and self.led_since == led_since:
            return Error.NONE
        return honest(self, required_offset, led_since)

    Partition.acknowledges = hasty  # type: ignore[method-assign]
