"""A follower that serves clients although its leader does not yet: up to what that leader alone takes for committed."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    designs=(LEADER_DRIVEN,),
    rules=("DRACK-05",),
    scenarios=("v2-new-leader-waits", "rack-reads-on"),
    unit="tests/cluster_impl/api/test_read_replica.py::test_a_follower_of_a_leader_that_is_not_ready_serves_no_client",
)


def apply() -> None:
    def note_leader(self: Partition, *, serves_clients: bool) -> None:
        self._leader_serves_clients = True

    Partition.note_leader = note_leader  # type: ignore[method-assign]
