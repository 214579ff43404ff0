"""A follower that serves clients its whole log: they read records that are not committed, and that may be lost."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.replica import Read, Replica
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DRACK-03", "DRACK-04"),
    scenarios=("rack-reads-on",),
    unit="tests/cluster_impl/api/test_read_replica.py::test_a_follower_does_not_show_a_record_before_it_is_committed",
)


def apply() -> None:
    known = Replica.read

    def check_position(self: Partition, offset: int) -> Error:
        within = self.log_start_offset <= offset <= self.log_end_offset
        return Error.NONE if within else Error.OFFSET_OUT_OF_RANGE

    def read(
        self: Replica,
        offset: int,
        leader_epoch: int,
        last_epoch: int,
        max_bytes: int,
        *,
        committed: bool,
        of_follower: bool = False,
    ) -> Read:
        found = known(self, offset, leader_epoch, last_epoch, max_bytes, committed=committed, of_follower=of_follower)
        if not (of_follower and self.core.role is ReplicaRole.FOLLOWER):
            return found
        end = self.log.log_end_offset
        records = self.log.read(offset, max_bytes, end) if offset < end and max_bytes > 0 else b""
        return Read(records, end, found.log_start_offset, found.diverging)

    Partition.check_position = check_position  # type: ignore[method-assign]
    Replica.read = read  # type: ignore[method-assign]
